import type { Resource } from '../../resources/resource.ts';
import { streamsOf } from '../../resources/streams-of.ts';
import type { Warehouse } from '../open-warehouse.ts';
import type { PassInHand } from './pass.ts';

/**
 * In SQL, what an answer says of how long a reconcile has stood still: by the clock of the service, or by that of the database, where an
 * answer had waited in hand. `servedAt`: the parameter, the service's time of the answer; null when it does not tell. `before`: where the
 * answer before it stands; a worker of 0.5.0 has read pages, and noted none.
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
 * Notes that the service has answered a reconcile outside of its listing: while it fetches, it does not stand still. The answer before
 * was to whichever list of the resource. Returns whether the service has told its time in this listing.
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
