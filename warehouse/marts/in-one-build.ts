import { codeOf } from '../../errors/code-of.ts';
import { becomeReader } from '../query/query-as-reader.ts';
import { queryTexts, type QueryResult, type Statement } from '../query/query-texts.ts';
import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';

/** There are no marts, or those of another version of Daybook. */
export class MartsMissing extends Error {
  override readonly name = 'MartsMissing';
  readonly handling = 'stop';
  readonly isUsage = true;

  constructor(cause: unknown) {
    super('The marts of this version are not built yet: build them with "npx daybook dbt build".', { cause });
  }
}

/**
 * Reads `marts` as the role for readers, or as the owner if there is none. All statements that `read` runs see the same build. Values are as Postgres
 * writes them. Throws MartsMissing.
 */
export async function inOneBuild<Result>(
  { pool }: Warehouse,
  { marts }: { marts: readonly string[] },
  read: (run: (statement: Statement) => Promise<QueryResult>) => Promise<Result>,
): Promise<Result> {
  try {
    return await inTransaction(pool, async ({ client }) => {
      await client.query('set transaction isolation level repeatable read, read only');
      await becomeReader(client);
      // Views can be replaced under a snapshot, so they are locked before it is taken, in the order in which a build locks them.
      const views = [...marts].sort().map((mart) => `marts.${mart}`);
      await client.query(`lock table ${views.join(', ')} in access share mode`);
      return await read((statement) => queryTexts(client, statement));
    });
  } catch (error) {
    throw isUnknownName(error) ? new MartsMissing(error) : error;
  }
}

/** Whether there is no such table, or no such column. */
function isUnknownName(error: unknown): boolean {
  return ['42P01', '42703'].includes(String(codeOf(error)));
}
