import type { Warehouse } from '../../warehouse/open-warehouse.ts';

/** Records the deletion of a bill, as reading the events list does. */
export async function addTombstone(
  { pool }: Warehouse,
  input: { connectionId: string; recordId: string; version: string },
): Promise<void> {
  await pool.query(
    `insert into sync.tombstones (connection_id, resource, record_id, version, deleted_at, source)
     values ($1, 'bills', $2, $3, $3, 'event')`,
    [input.connectionId, input.recordId, input.version],
  );
}
