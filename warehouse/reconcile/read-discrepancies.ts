import { sql, type Selectable } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';
import type { DiscrepanciesTable } from '../tables/discrepancies.ts';

/** The newest first; those before number `before`, and of one status, if asked. */
export async function readDiscrepancies(
  { db }: Warehouse,
  input: {
    connectionId: string | undefined;
    status?: DiscrepanciesTable['status'] | undefined;
    before?: number | undefined;
    limit: number;
  },
): Promise<Selectable<DiscrepanciesTable>[]> {
  let query = db
    .selectFrom('sync.discrepancies')
    .selectAll()
    .orderBy('found_at', 'desc')
    .orderBy('id', 'desc')
    .limit(input.limit);
  if (input.connectionId !== undefined) query = query.where('connection_id', '=', input.connectionId);
  if (input.status !== undefined) query = query.where('status', '=', input.status);
  if (input.before !== undefined) {
    query = query.where(
      sql<boolean>`(found_at, id) < (select found_at, id from sync.discrepancies where id = ${input.before})`,
    );
  }
  return query.execute();
}
