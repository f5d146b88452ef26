import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';

/**
 * Reads when an export last succeeded: it published a snapshot, or found that nothing has changed since the newest one. A snapshot counts although
 * its export failed afterward. Null: none did.
 */
export async function readLastExport({ db }: Warehouse): Promise<Date | null> {
  const { rows } = await sql<{ succeeded_at: Date | null }>`
    select greatest(
      (select max(taken_at) from sync.snapshots where removed_at is null),
      (
        select finished_at from sync.runs
        where coalesce(connection_id, '') = '' and kind = 'export' and status = 'succeeded' and finished_at is not null
        order by finished_at desc, run_id desc limit 1
      )
    ) as succeeded_at
  `.execute(db);
  return rows[0]?.succeeded_at ?? null;
}
