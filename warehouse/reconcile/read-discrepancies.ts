import type { Selectable } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';
import type { DiscrepanciesTable } from '../tables/discrepancies.ts';

/** The newest first. */
export async function readDiscrepancies(
  { db }: Warehouse,
  input: { connectionId: string | undefined; limit: number },
): Promise<Selectable<DiscrepanciesTable>[]> {
  let query = db
    .selectFrom('sync.discrepancies')
    .selectAll()
    .orderBy('found_at', 'desc')
    .orderBy('id', 'desc')
    .limit(input.limit);
  if (input.connectionId !== undefined) query = query.where('connection_id', '=', input.connectionId);
  return query.execute();
}
