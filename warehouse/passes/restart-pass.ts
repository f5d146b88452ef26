import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { forgetListing } from './forget-listing.ts';
import { lockPass } from './lock-pass.ts';
import type { Listed, PassInHand } from './pass.ts';
import { beganUntold } from './reading-began.ts';

/**
 * Restarts a pass without a cursor, because the service refuses the cursor, a run gave up on it, or the pass stood still for longer than its list may
 * lag. If pages came in the order of versions, a sync restarts at the highest version seen minus the lookback, but not past the time at which the
 * reading began. If that reading has landed no page, it restarts at its old floor, as other passes do. What a reconcile's listing has shown so far is
 * deleted. Returns how often the service has refused a cursor in this run.
 */
export async function restartPass(
  warehouse: Warehouse,
  input: {
    pass: PassInHand;
    resource: Listed;
    lookbackMilliseconds: number;
    why: 'cursor refused' | 'given up' | 'stood still';
  },
): Promise<number> {
  const { pass, resource, lookbackMilliseconds, why } = input;
  const ordered = resource.version === 'last_synced_at';
  return inTransaction(warehouse.pool, async ({ client }) => {
    const { landedAt } = await lockPass(client, pass, resource.name);
    if (pass.kind === 'reconcile') await forgetListing(client, { pass, landedAt });
    const { rows } = await client.query<{ restarts: number }>(
      `with shown as (
         update sync.streams set cursor = null where connection_id = $1 and stream = $2 and $3 = 'sync'
       )
       update sync.passes set
         cursor = null,
         served_from = null,
         failing_since = null,
         restarts = restarts + $7,
         stood_still_in = case when $8 then run_id else stood_still_in end,
         floor = case when $4 and kind = 'sync' and not out_of_order and highest_seen is not null and ${readingBegan} is not null
           then greatest(floor, least(highest_seen, ${readingBegan}) - $5 * interval '1 millisecond')
           else floor
         end
       where connection_id = $1 and stream = $2 and kind = $3 and part = $6
       returning restarts`,
      [
        pass.connectionId,
        pass.stream,
        pass.kind,
        ordered,
        lookbackMilliseconds,
        pass.part,
        why === 'cursor refused' ? 1 : 0,
        why === 'stood still',
      ],
    );
    return rows[0]?.restarts ?? 0;
  });
}

/** Null if the service tells its time and this reading has landed no page: what an earlier reading saw may be of the future. */
const readingBegan = `coalesce(served_from, case when served_until is null then ${beganUntold} end)`;
