import type { PoolClient } from 'pg';
import type { Warehouse } from '../../../warehouse/open-warehouse.ts';
import { withSessions } from '../../../warehouse/transactions/with-sessions.ts';
import { SharedExclusiveLock } from './shared-exclusive-lock.ts';
import type { Standby } from './standby.ts';
import { beginStatement } from '../../../warehouse/transactions/in-transaction.ts';

/** When a standby takes over, and how many commits it has by then. */
export interface Takeover {
  /** The number of commits of the run that it has. */
  readonly has: number;
  /** It takes over after this many commits of the run. */
  readonly after: number;
}

export interface FailoverWarehouse {
  readonly warehouse: Warehouse;
  /** The last statement of each committed transaction, in order. */
  readonly commits: readonly string[];
  readonly hasTakenOver: () => boolean;
}

/**
 * The warehouse over a Postgres that counts commits, and whose standby takes over after one of them, before it returns. No transaction is
 * open then, so exactly the committed changes are lost.
 */
export async function openFailoverWarehouse(
  warehouse: Warehouse,
  { standby, connectionId, takeover }: { standby: Standby; connectionId: string; takeover?: Takeover },
): Promise<FailoverWarehouse> {
  const commits: string[] = [];
  let hasTakenOver = false;
  const transactions = new SharedExclusiveLock();
  const committed = async (what: string): Promise<void> => {
    const place = commits.push(what);
    if (place === takeover?.has) await transactions.runExclusive(() => standby.receive(connectionId));
    if (place !== takeover?.after) return;
    await transactions.runExclusive(() => standby.takeOver(connectionId));
    hasTakenOver = true;
  };
  if (takeover?.has === 0) await standby.receive(connectionId);
  const counting = withSessions(warehouse, async () =>
    countingCommits(await warehouse.pool.connect(), { transactions, committed }),
  );
  return { warehouse: counting, commits, hasTakenOver: () => hasTakenOver };
}

interface Counting {
  readonly transactions: SharedExclusiveLock;
  readonly committed: (what: string) => Promise<void>;
}

/** A session that reports each of its transactions that has written. */
function countingCommits(client: PoolClient, { transactions, committed }: Counting): PoolClient {
  let isOpen = false;
  let last = '';
  const close = (): void => {
    if (isOpen) transactions.releaseShared();
    isOpen = false;
  };
  const inOpen = async (given: [string]): Promise<unknown> => {
    const text = statementText(given[0]);
    if (text !== 'commit' && text !== 'rollback') {
      last = text;
      return client.query(...given);
    }
    const wrote = text === 'commit' && (await hasWritten(client));
    const what = last;
    const ended = await client.query(...given).finally(close);
    if (wrote) await committed(what);
    return ended;
  };
  const query = async (...given: [string]): Promise<unknown> => {
    if (isOpen) return inOpen(given);
    await transactions.acquireShared();
    isOpen = true;
    if (statementText(given[0]) === beginStatement) return client.query(...given);
    // A single statement is a transaction too.
    let result: unknown;
    try {
      await client.query('begin');
      result = await inOpen(given);
    } catch (error) {
      await inOpen(['rollback']);
      throw error;
    }
    await inOpen(['commit']);
    return result;
  };
  const release = (error?: Error | boolean): void => {
    close();
    client.release(error);
  };
  return new Proxy(client, {
    get(session, name): unknown {
      if (name === 'query') return query;
      if (name === 'release') return release;
      const member: unknown = Reflect.get(session, name, session);
      return typeof member === 'function' ? (member.bind(session) as unknown) : member;
    },
  });
}

async function hasWritten(client: PoolClient): Promise<boolean> {
  const { rowCount } = await client.query('select where pg_current_xact_id_if_assigned() is not null');
  return rowCount === 1;
}

type Statement = string | { readonly name?: string; readonly text?: string };

function statementText(statement: Statement): string {
  const text = typeof statement === 'string' ? statement : (statement.name ?? statement.text ?? '');
  return text.trim().replace(/\s+/g, ' ').slice(0, 80);
}
