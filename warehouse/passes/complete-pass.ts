import type { PoolClient } from 'pg';
import type { PassInHand } from './pass.ts';

/**
 * Closes a pass whose last page is being committed. The watermark becomes the highest version seen, in the service's
 * clock, and only ever moves forward. A stream that left records in quarantine is `partial`.
 */
export async function completePass(client: PoolClient, pass: PassInHand): Promise<void> {
  await client.query({
    name: 'complete pass',
    text: `
      with closed as (
        delete from sync.passes
        where connection_id = $1 and stream = $2 and kind = $3
        returning highest_seen
      ), moved as (
        update sync.streams set
          watermark = greatest(watermark, closed.highest_seen),
          cursor = null,
          last_success_at = clock_timestamp(),
          capability = 'supported',
          capability_checked_at = clock_timestamp()
        from closed
        where connection_id = $1 and stream = $2 and $3 = 'sync'
        returning watermark
      )
      update sync.run_streams set
        status = case when quarantined > 0 then 'partial' else 'succeeded' end,
        watermark_after = moved.watermark,
        finished_at = clock_timestamp()
      from moved
      where run_id = $4 and stream = $2`,
    values: [pass.connectionId, pass.stream, pass.kind, pass.runId],
  });
}
