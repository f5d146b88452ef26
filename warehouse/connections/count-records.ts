import { sql } from 'kysely';
import { inTransaction } from '../transactions/in-transaction.ts';
import { codeOf } from '../../errors/code-of.ts';
import { resources } from '../../resources/index.ts';
import type { Warehouse } from '../open-warehouse.ts';

/** A count only informs. Postgres counts 100,000 rows in about 15 ms and gives up at this deadline. */
const deadlineMilliseconds = 500;

/** Counts the records in `finance` for each resource of a connection; undefined if counting takes too long. */
export async function countRecords(
  { pool }: Warehouse,
  connectionId: string,
): Promise<Readonly<Record<string, number>> | undefined> {
  try {
    return await inTransaction(pool, async ({ db }) => {
      await sql`set local statement_timeout = ${sql.lit(deadlineMilliseconds)}`.execute(db);
      const counts = resources.map(
        ({ name }) =>
          sql`select ${name} as resource, count(*) as records from ${sql.table(`finance.${name}`)}
            where connection_id = ${connectionId}`,
      );
      const { rows } = await sql<{ resource: string; records: number }>`
        ${sql.join(counts, sql` union all `)}
      `.execute(db);
      return Object.fromEntries(rows.map(({ resource, records }) => [resource, records]));
    });
  } catch (error) {
    if (isTimeUp(error)) return undefined;
    throw error;
  }
}

function isTimeUp(error: unknown): boolean {
  return codeOf(error) === '57014';
}
