import { isDeepStrictEqual } from 'node:util';
import { checkPooler, type Pooler } from '../session/check-pooler.ts';
import { openWarehouse } from '../open-warehouse.ts';
import { readServerFacts, type ServerFacts } from './server-facts.ts';

/** Locks, exports and builds would use another database than the one in which records land. */
export class DirectUrlElsewhere extends Error {
  override readonly name = 'DirectUrlElsewhere';
  readonly handling = 'stop';
  readonly isUsage = true;

  constructor() {
    super(
      'DAYBOOK_DATABASE_DIRECT_URL leads to another database or server than DATABASE_URL: give it the address of the server that the pooler leads to, and the same database.',
    );
  }
}

/** Checks both addresses, and returns how they lead to the database. Throws PoolerUnfit, DirectUrlElsewhere. */
export async function checkAddresses({
  url,
  directUrl,
}: {
  readonly url: string;
  readonly directUrl: string;
}): Promise<{ readonly pooler: Pooler; readonly direct: Pooler }> {
  const pooler = await checkPooler(url, 'DATABASE_URL');
  if (directUrl === url) return { pooler, direct: pooler };
  const direct = await checkPooler(directUrl, 'DAYBOOK_DATABASE_DIRECT_URL');
  if (!isDeepStrictEqual(await readServerFactsAt(url), await readServerFactsAt(directUrl)))
    throw new DirectUrlElsewhere();
  return { pooler, direct };
}

async function readServerFactsAt(url: string): Promise<ServerFacts> {
  const warehouse = openWarehouse({ url, connections: 1 });
  try {
    return await readServerFacts(warehouse.pool);
  } finally {
    await warehouse.close();
  }
}
