import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';
import { listedInQuarantine } from './listed-in-quarantine.ts';

/** So many open entries of a connection are counted, and no more: one company can leave millions. */
export const mostCounted = 10_000;

/** One more than are counted: a count that reaches it says that there are more. */
export const countLimit = sql.lit(mostCounted + 1);

/**
 * How many open entries some connections have, or all, when null: by connection, where there are any. `mostCounted` + 1 stands for more than
 * `mostCounted`.
 */
export async function countOpenEntries(
  { db }: Pick<Warehouse, 'db'>,
  connections: readonly string[] | null,
): Promise<Map<string, number>> {
  const asked =
    connections === null
      ? listedInQuarantine
      : sql`select unnest(${[...connections]}::text[]) as connection_id`;
  // `between`: to what is equal a planner gives no place in the order, and then takes an index that has the entries of all connections.
  const { rows } = await sql<{ connection_id: string; entries: number }>`
    select asked.connection_id, counted.entries
    from (select distinct connection_id from (${asked}) named) asked
    cross join lateral (
      select count(*) as entries
      from (
        select from sync.quarantine q
        where q.status = 'open' and q.connection_id between asked.connection_id and asked.connection_id
        order by q.connection_id, q.resource, q.id
        limit ${countLimit}
      ) entry
    ) counted
    where counted.entries > 0
  `.execute(db);
  return new Map(rows.map(({ connection_id, entries }) => [connection_id, entries]));
}

/** A count of `countOpenEntries`, as it is said. */
export function countInWords(entries: number): string {
  return entries > mostCounted
    ? `more than ${mostCounted.toLocaleString('en-US')}`
    : entries.toLocaleString('en-US');
}
