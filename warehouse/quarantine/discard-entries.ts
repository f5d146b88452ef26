import type { Warehouse } from '../open-warehouse.ts';

/** Closes entries that a person does not want, and remembers their content: it opens no entry again. Others stay as they are. */
export async function discardEntries(
  { pool }: Warehouse,
  { ids, why }: { ids: readonly number[]; why: string },
): Promise<void> {
  await pool.query(
    `update sync.quarantine set
       status = 'discarded', closed_at = clock_timestamp(), closed_why = $2,
       discarded_content = sync.content_hash(payload)
     where id = any($1::bigint[]) and status = 'open'`,
    [ids, why],
  );
}
