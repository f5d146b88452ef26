import type { PoolClient } from 'pg';
import type { Listed, PassInHand } from './pass.ts';
import { beganUntold } from './reading-began.ts';

/** Closes a pass whose last page is being committed. */
export async function completePass(client: PoolClient, pass: PassInHand, resource: Listed): Promise<void> {
  const where = [pass.connectionId, pass.stream, pass.part];
  switch (pass.kind) {
    case 'sync':
      await client.query({
        name: `complete sync ${resource.name}`,
        text: completeSync(resource),
        values: [pass.connectionId, pass.stream, pass.runId, stalled],
      });
      return;
    case 'reconcile':
      // The rest of the run needs the pass: the listing is compared when every stream of the resource is complete.
      await client.query({ name: 'complete reconcile', text: completeReconcile, values: where });
      return;
    case 'backfill':
      await client.query({ name: 'complete backfill', text: completeBackfill, values: where });
  }
}

/**
 * Returns SQL that completes a sync. The watermark becomes the highest version seen, in the service's clock, but no later than the service's time
 * when the reading began. Otherwise syncs would miss records that a list shows late, and all that follow one with a future time. It only moves
 * forward. A stream is `partial` if it left records in quarantine or has stalled: a record that was found outside syncs before the pass began, and is
 * still newer than the watermark, did not come.
 */
function completeSync({ name, version }: Listed): string {
  const stillAhead =
    version === null
      ? 'false'
      : `s.ahead_version > coalesce(greatest(s.watermark, closed.highest_seen), '-infinity')
          and (s.ahead_noted_at > closed.started_at or exists (
            select from finance.${name} f
            where f.connection_id = $1 and f.id = s.ahead_record_id and f.${version} = s.ahead_version
          ))`;
  return `
    with closed as (
      delete from sync.passes
      where connection_id = $1 and stream = $2 and kind = 'sync'
      returning highest_seen, started_at,
        case when highest_seen is not null then least(highest_seen, coalesce(served_from, ${beganUntold})) end as read_to
    ), known as (
      select closed.*, ${stillAhead} as ahead, s.ahead_noted_at <= closed.started_at as in_time
      from closed, sync.streams s
      where s.connection_id = $1 and s.stream = $2
    ), moved as (
      update sync.streams set
        watermark = greatest(watermark, known.read_to),
        cursor = null,
        last_success_at = clock_timestamp(),
        capability = 'supported',
        capability_checked_at = clock_timestamp(),
        ahead_version = case when known.ahead then ahead_version end,
        ahead_record_id = case when known.ahead then ahead_record_id end,
        ahead_noted_at = case when known.ahead then ahead_noted_at end,
        stalled_at = case when known.ahead and known.in_time then clock_timestamp() end
      from known
      where connection_id = $1 and stream = $2
      returning watermark, known.ahead and known.in_time as stalled
    )
    update sync.run_streams set
      status = case when quarantined > 0 or moved.stalled then 'partial' else 'succeeded' end,
      failure_type = case when moved.stalled then 'Stalled' end,
      failure = case when moved.stalled then $4 end,
      watermark_after = moved.watermark,
      finished_at = clock_timestamp()
    from moved
    where run_id = $3 and stream = $2`;
}

const stalled =
  'The service has newer records than its list shows, so the watermark does not move. Run "daybook reconcile"; if that does not help, report it to the finance API.';

const completeReconcile = `
  update sync.passes set cursor = null, completed_at = clock_timestamp()
  where connection_id = $1 and stream = $2 and kind = 'reconcile' and part = $3`;

const completeBackfill = `
  delete from sync.passes where connection_id = $1 and stream = $2 and kind = 'backfill' and part = $3`;
