import type { Warehouse } from '../open-warehouse.ts';
import type { PassInHand } from './pass.ts';

/**
 * In SQL, what an answer says of how long a reconcile has stood still: by the clock of the service, or by that of the database, where an
 * answer had waited in hand. `servedAt`: the parameter, the service's time of the answer; null when it does not tell.
 */
export function answeredSql(servedAt: string): string {
  return `
          stood_still_seconds = greatest(
            stood_still_seconds,
            extract(epoch from ${servedAt}::timestamptz - served_until),
            extract(epoch from clock_timestamp() - answered_at)
          ),
          answered_at = clock_timestamp(),
          served_until = coalesce(${servedAt}::timestamptz, served_until)`;
}

/** Notes that the service has answered a reconcile outside of its listing: while it fetches, it does not stand still. */
export async function noteAnswer(
  { pool }: Warehouse,
  { pass, servedAt }: { pass: PassInHand; servedAt: Date | null },
): Promise<void> {
  await pool.query(
    `update sync.passes set ${answeredSql('$4')}
     where connection_id = $1 and stream = $2 and kind = 'reconcile' and run_id = $3`,
    [pass.connectionId, pass.stream, pass.runId, servedAt],
  );
}
