import { inTransaction } from '../in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { lockPass } from './lock-pass.ts';
import type { PassInHand } from './pass.ts';
import type { Resource } from '../../resources/resource.ts';

/**
 * For a cursor that the service no longer accepts: the pass starts again without one. Pages in the order of
 * `last_synced_at` make it safe to start at the highest version seen minus the lookback; subscriptions have no order, so
 * theirs starts at its old floor. Returns how often that has happened in this run.
 */
export async function restartPass(
  warehouse: Warehouse,
  input: { pass: PassInHand; resource: Resource; lookbackMilliseconds: number },
): Promise<number> {
  const { pass, resource, lookbackMilliseconds } = input;
  const ordered = resource.version === 'last_synced_at';
  return inTransaction(warehouse.pool, async (client) => {
    await lockPass(client, pass, resource.name);
    const { rows } = await client.query<{ restarts: number }>(
      `update sync.passes set
         cursor = null,
         restarts = restarts + 1,
         floor = case when $4
           then greatest(floor, highest_seen - $5 * interval '1 millisecond')
           else floor
         end
       where connection_id = $1 and stream = $2 and kind = $3
       returning restarts`,
      [pass.connectionId, pass.stream, pass.kind, ordered, lookbackMilliseconds],
    );
    return rows[0]?.restarts ?? 0;
  });
}
