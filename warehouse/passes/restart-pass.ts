import { inTransaction } from '../in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { lockPass } from './lock-pass.ts';
import type { Listed, PassInHand } from './pass.ts';

/**
 * For a cursor that the service no longer accepts, or that a run gave up on: the pass starts again without one. Where pages
 * come in the order of the versions, a sync may start at the highest version seen minus the lookback; anything else starts at
 * its old floor. Returns how often that has happened in this run.
 */
export async function restartPass(
  warehouse: Warehouse,
  input: { pass: PassInHand; resource: Listed; lookbackMilliseconds: number },
): Promise<number> {
  const { pass, resource, lookbackMilliseconds } = input;
  const ordered = resource.version === 'last_synced_at';
  return inTransaction(warehouse.pool, async (client) => {
    await lockPass(client, pass, resource.name);
    const { rows } = await client.query<{ restarts: number }>(
      `with shown as (
         update sync.streams set cursor = null where connection_id = $1 and stream = $2 and $3 = 'sync'
       )
       update sync.passes set
         cursor = null,
         failing_since = null,
         restarts = restarts + 1,
         floor = case when $4 and kind = 'sync'
           then greatest(floor, highest_seen - $5 * interval '1 millisecond')
           else floor
         end
       where connection_id = $1 and stream = $2 and kind = $3 and part = $6
       returning restarts`,
      [pass.connectionId, pass.stream, pass.kind, ordered, lookbackMilliseconds, pass.part],
    );
    return rows[0]?.restarts ?? 0;
  });
}
