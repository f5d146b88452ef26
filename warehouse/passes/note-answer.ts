import type { Resource } from '../../resources/resource.ts';
import { streamsOf } from '../../resources/streams-of.ts';
import type { Warehouse } from '../open-warehouse.ts';
import type { PassInHand } from './pass.ts';

/**
 * Returns SQL that notes an answer, and for how long the reconcile had stood still: by the clock of the service, or by that of the database if an
 * answer had waited in hand. `servedAt` is the parameter with the service's time of the answer; null if it tells none. `before` names the columns of
 * the previous answer; a worker of 0.5.0 has read pages without noting any.
 */
export function answeredSql(
  servedAt: string,
  before = { servedUntil: 'served_until', answeredAt: 'answered_at' },
): string {
  return `
          stood_still_seconds = greatest(
            stood_still_seconds,
            extract(epoch from ${servedAt}::timestamptz - ${before.servedUntil}),
            extract(epoch from clock_timestamp() - coalesce(${before.answeredAt}, case when pages > 0 then started_at else asked_at end))
          ),
          answered_from = coalesce(answered_from, clock_timestamp()),
          answered_at = clock_timestamp(),
          served_until = coalesce(${servedAt}::timestamptz, served_until)`;
}

/**
 * Notes that the service has answered a reconcile outside of its listing: a reconcile that fetches does not stand still. The previous answer may be
 * to any list of the resource. Returns whether the service has told its time in this listing.
 */
export async function noteAnswer(
  { pool }: Warehouse,
  { pass, resource, servedAt }: { pass: PassInHand; resource: Resource; servedAt: Date | null },
): Promise<boolean> {
  const before = { servedUntil: 'latest.served', answeredAt: 'latest.answered' };
  const { rows } = await pool.query<{ tells: boolean }>(
    `update sync.passes set ${answeredSql('$4', before)}
     from (
       select max(served_until) as served, max(answered_at) as answered
       from sync.passes
       where connection_id = $1 and stream = any($5::text[]) and kind = 'reconcile' and run_id = $3
     ) latest
     where connection_id = $1 and stream = $2 and kind = 'reconcile' and run_id = $3 and lease = $6
     returning latest.served is not null as tells`,
    [pass.connectionId, pass.stream, pass.runId, servedAt, streamsOf(resource), pass.lease],
  );
  return rows[0]?.tells ?? false;
}
