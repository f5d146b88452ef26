import { sql, type Selectable } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';
import type { DiscrepanciesTable } from '../tables/discrepancies.ts';

/** Reads discrepancies, the newest first; those before number `before`, or only those that wait for approval, if asked. */
export async function readDiscrepancies(
  { db }: Warehouse,
  {
    connectionId,
    before,
    waiting = false,
    limit,
  }: { connectionId: string | undefined; before?: number | undefined; waiting?: boolean; limit: number },
): Promise<Selectable<DiscrepanciesTable>[]> {
  let query = db.selectFrom('sync.discrepancies').selectAll();
  // Both bounds, and the order: the planner drops a column that is equal to a value from the sort order, and then takes an index over those of all
  // connections.
  if (connectionId !== undefined)
    query = query
      .where('connection_id', '>=', connectionId)
      .where('connection_id', '<=', connectionId)
      .orderBy('connection_id');
  if (before !== undefined)
    // An index scan can begin at a row of values, but not at a row that is selected.
    query = query.where(
      sql<boolean>`(found_at, id) < ((select found_at from sync.discrepancies where id = ${before}), ${before}::bigint)`,
    );
  if (waiting) query = query.where('closed_at', 'is', null).where('status', '=', 'confirmed');
  return query.orderBy('found_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
}
