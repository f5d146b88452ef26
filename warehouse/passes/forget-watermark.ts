import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { lockPass } from './lock-pass.ts';
import type { Listed, PassInHand } from './pass.ts';

/**
 * Makes a sync read a stream as if for the first time, because its watermark lies in the service's future. The watermark came from a wrong clock, so
 * nobody knows up to where the stream is complete. `servedAt` is the service's time in the response of `heardAt`; see `PageFacts`.
 */
export async function forgetWatermark(
  warehouse: Warehouse,
  {
    pass,
    resource,
    servedAt,
    heardAt,
  }: { pass: PassInHand; resource: Listed; servedAt: Date; heardAt: Date | null },
): Promise<void> {
  await inTransaction(warehouse.pool, async ({ client }) => {
    await lockPass(client, pass, resource.name);
    await client.query(
      `update sync.passes set cursor = null, floor = null, highest_seen = null, served_from = null
       where connection_id = $1 and stream = $2 and kind = 'sync'`,
      [pass.connectionId, pass.stream],
    );
    await client.query(
      `update sync.streams set watermark = null, cursor = null, service_time = $3, service_time_noted_at = least(clock_timestamp(), $4::timestamptz)
       where connection_id = $1 and stream = $2`,
      [pass.connectionId, pass.stream, servedAt, heardAt],
    );
  });
}
