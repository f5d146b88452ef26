import { sql } from 'kysely';

/** The time since which a stream of a row of `sync.connections` must have been complete: twice the time between two of its syncs ago. */
export const freshSince = sql<Date>`now() - 2 * sync_stretch * sync_every`;

/** When a stream `s` was last complete, as far as known. A future time, recorded while the clock of Postgres was ahead, says nothing. */
export const lastComplete = sql<Date | null>`case when s.last_success_at <= clock_timestamp() then s.last_success_at end`;

/**
 * Whether a row of `sync.connections` is stale: scheduled, not paused, and a supported stream was not complete for more than twice the time between
 * two syncs. A stream that was never complete counts from the creation of the connection.
 */
export const stale = sql<boolean>`(
  sync_every is not null and paused_at is null
  and ${freshSince} > coalesce(
    (
      select min(coalesce(${lastComplete}, created_at))
      from sync.streams s
      where s.connection_id = connections.connection_id and s.capability <> 'unsupported'
    ),
    created_at
  )
)`;
