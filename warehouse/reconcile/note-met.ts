import type { PoolClient } from 'pg';
import type { RunScope } from '../record-scope.ts';

/**
 * Notes that the source showed this run records which a reconcile, another run, has not seen: they may have been made again since. What
 * is not yet decided is then not decided by another listing. What was confirmed, and waits to be deleted, is in doubt again, unless the
 * page is older than the confirmation, by a second at least: one in flight still shows what is gone. It is not older where this run
 * began when that one was over, whatever the clocks say; where the service does not tell its time, nobody knows, and the doubt stays. A
 * reconcile compares what it finds itself with all that its listings showed; of what an older one found, each of its pages says
 * something, for it may never get to the end.
 *
 * Expects the resource of the connection to be locked. `servedAt`: the service's time of the response; null when it does not tell.
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
