import { streamsOf } from '../../resources/streams-of.ts';
import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { lockResource } from '../passes/lock-pass.ts';
import { lockListing, type ListingInHand } from './listing-in-hand.ts';
import { readStandstill } from './read-standstill.ts';

/** How often a run may restart a resource. Without a limit, a service that asks for long pauses again and again would be listed forever. */
const mostBeginnings = 2;

/**
 * Restarts the reconcile of a resource, with all its lists, if it has stood still for too long since it began: records shown before may be gone, and
 * records found absent may live. After the maximum of restarts it goes on but proves nothing: it deletes nothing, and `finishResource` says so.
 */
export async function beginAgainIfStoodStill(
  warehouse: Warehouse,
  input: ListingInHand & { lookbackMilliseconds: number },
): Promise<'of one time' | 'begun again' | 'too old'> {
  const { connectionId, resource, runId } = input;
  const where = [connectionId, streamsOf(resource), runId];
  return inTransaction(warehouse.pool, async ({ client }) => {
    await lockListing(client, input);
    const { complete, tooLong, begunAgain } = await readStandstill(client, input);
    if (!complete || !tooLong) return 'of one time';
    if (begunAgain >= mostBeginnings) return 'too old';
    const { landedAt } = await lockResource(client, { connectionId, resource: resource.name, runId });
    await client.query(
      'delete from sync.listed_pages where connection_id = $1 and stream = any($2::text[])',
      where.slice(0, 2),
    );
    await client.query(
      `update sync.passes set
         listing = 1, pages = 0, cursor = null, completed_at = null, failing_since = null, started_at = $4,
         served_from = null, served_until = null, answered_from = null, answered_at = null, answered_before = null,
         stood_still_seconds = 0,
         begun_again = begun_again + 1
       where connection_id = $1 and stream = any($2::text[]) and kind = 'reconcile' and run_id = $3`,
      [...where, landedAt],
    );
    await client.query(
      `update sync.discrepancies
       set status = 'dismissed', closed_at = $4, closed_why = 'the listing stood still, and began again'
       where connection_id = $1 and resource = $2 and run_id = $3 and (kind = 'extra' or shown_by is null) and closed_at is null`,
      [connectionId, resource.name, runId, landedAt],
    );
    return 'begun again';
  });
}
