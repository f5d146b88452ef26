import type { Warehouse } from '../open-warehouse.ts';

/** Holds back a connection's webhooks for this time, whatever arrives; a sync that gets through ends it. */
export async function holdWebhooks(
  { pool }: Warehouse,
  input: { connectionId: string; milliseconds: number },
): Promise<void> {
  await pool.query(
    `update sync.connections set webhooks_after = clock_timestamp() + $2 * interval '1 millisecond'
     where connection_id = $1`,
    [input.connectionId, Math.max(0, Math.ceil(input.milliseconds))],
  );
}
