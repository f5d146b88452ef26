import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';

/**
 * Puts off the requests that a reconcile has met and not answered, whatever ended it: they wait an hour, and then as long as the reconcile has been
 * needed, at most a day, because each one lists a whole resource. Not put off is what another run, or a failover, has taken from it.
 */
export async function putOffUnanswered(db: Warehouse['db'], runId: string): Promise<void> {
  await sql`
    update sync.streams s set
      reconcile_not_before = clock_timestamp()
        + least(greatest(clock_timestamp() - s.reconcile_wanted_at, interval '1 hour'), interval '1 day')
    from sync.runs r
    where r.run_id = ${runId} and s.connection_id = r.connection_id
      -- A time that is still to come was written while a clock was ahead.
      and (s.reconcile_wanted_at < r.started_at or s.reconcile_wanted_at > clock_timestamp())
      and s.resource in (
        select met.resource
        from sync.run_streams own
        join sync.streams met using (connection_id, stream)
        where own.run_id = r.run_id and coalesce(own.failure_type, '') not in ('CommitsLost', 'NotProved', 'ReconcileReplaced')
      )
  `.execute(db);
}
