import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { lockPass } from './lock-pass.ts';
import type { Listed, PassInHand } from './pass.ts';

/**
 * Restarts a sync `milliseconds` before its watermark, because the service has set its clock back: what it has written since has older versions than
 * what was read before. `servedAt` is the service's time in the response of `heardAt`; see `PageFacts`.
 */
export async function readFromFurtherBack(
  warehouse: Warehouse,
  input: { pass: PassInHand; resource: Listed; servedAt: Date; heardAt: Date | null; milliseconds: number },
): Promise<void> {
  const { pass, resource, servedAt, heardAt, milliseconds } = input;
  await inTransaction(warehouse.pool, async ({ client }) => {
    await lockPass(client, pass, resource.name);
    await client.query(
      `with before as (
         select service_time from sync.streams where connection_id = $1 and stream = $2
       ), told as (
         update sync.streams set cursor = null, service_time = $3, service_time_noted_at = least(clock_timestamp(), $5::timestamptz)
         where connection_id = $1 and stream = $2
         returning watermark
       )
       update sync.passes set cursor = null, served_from = null, highest_seen = null,
         -- Once for one answer, however often that is acted upon.
         restarts = restarts + (before.service_time is distinct from $3)::int,
         floor = told.watermark - $4 * interval '1 millisecond'
       from before, told
       where connection_id = $1 and stream = $2 and kind = 'sync'`,
      [pass.connectionId, pass.stream, servedAt, milliseconds, heardAt],
    );
  });
}
