import { sql, type Selectable } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';
import type { DiscrepanciesTable } from '../tables/discrepancies.ts';

/** The newest first; those before number `before`, or only those that wait for approval, if asked. */
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
  // Both bounds, and the order: to what is equal a planner gives no place in the order, and then takes an index that has those of all.
  if (connectionId !== undefined)
    query = query
      .where('connection_id', '>=', connectionId)
      .where('connection_id', '<=', connectionId)
      .orderBy('connection_id');
  if (before !== undefined)
    // A row of values, unlike a row that is selected, is what an index can begin at.
    query = query.where(
      sql<boolean>`(found_at, id) < ((select found_at from sync.discrepancies where id = ${before}), ${before}::bigint)`,
    );
  if (waiting) query = query.where('closed_at', 'is', null).where('status', '=', 'confirmed');
  return query.orderBy('found_at', 'desc').orderBy('id', 'desc').limit(limit).execute();
}
