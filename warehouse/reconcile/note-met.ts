import type { PoolClient } from 'pg';
import type { RunScope } from '../record-scope.ts';

/**
 * Notes that the source showed this run records that a reconcile of another run has not seen: they may have been recreated since. Another listing
 * then does not decide about undecided ones. Confirmed ones, which wait to be deleted, are in doubt again, unless the page is older than the
 * confirmation by at least a second: a page in flight still shows records that are gone. A page is not older if this run began after the other one
 * was over, whatever the clocks say. If the service tells no time, nobody knows, and the doubt stays. A reconcile compares its own findings with all
 * that its listings showed. Each of its pages also counts for the findings of an older one, because it may never get to the end.
 *
 * Expects the resource of the connection to be locked. `servedAt` is the service's time of the response; null if it tells none.
 */
export async function noteMet(
  client: PoolClient,
  {
    connectionId,
    resource,
    runId,
    ids,
    servedAt,
  }: RunScope & { ids: readonly string[]; servedAt: Date | null },
): Promise<void> {
  if (ids.length === 0) return;
  await client.query({
    name: 'note met',
    text: `
      update sync.discrepancies set status = 'checking', met_at = clock_timestamp(), gone_by = null
      where connection_id = $1 and resource = $2 and record_id = any($3::text[]) and closed_at is null and run_id <> $5
        and kind = 'extra' and (status = 'checking' or status = 'confirmed' and (
          coalesce(date_trunc('second', gone_by) <= $4, true) or exists (
            select from sync.runs found join sync.runs now on now.run_id = $5
            where found.run_id = discrepancies.run_id and found.finished_at < now.started_at
          )
        ))`,
    values: [connectionId, resource.name, ids, servedAt, runId],
  });
}
