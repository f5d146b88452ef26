import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';
import { listedInQuarantine } from './listed-in-quarantine.ts';

/** A connection's open entries are counted up to this number: one company can leave millions. */
export const mostCounted = 10_000;

/** One more than is counted: a count that reaches it means that there are more. */
export const countLimit = sql.lit(mostCounted + 1);

/**
 * Counts the open entries of some connections, or of all if null, by connection; those without any are left out. `mostCounted` + 1 stands for more
 * than `mostCounted`.
 */
export async function countOpenEntries(
  { db }: Pick<Warehouse, 'db'>,
  connections: readonly string[] | null,
): Promise<Map<string, number>> {
  const asked =
    connections === null
      ? listedInQuarantine
      : sql`select unnest(${[...connections]}::text[]) as connection_id`;
  // `between`, because the planner drops a column that is equal to a value from the sort order, and then takes an index over the entries of all
  // connections.
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

/** Formats a count of `countOpenEntries`. */
export function countInWords(entries: number): string {
  return entries > mostCounted
    ? `more than ${mostCounted.toLocaleString('en-US')}`
    : entries.toLocaleString('en-US');
}
