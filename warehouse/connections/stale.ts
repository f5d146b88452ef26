import { sql } from 'kysely';

/** Since when a stream of a row of `sync.connections` has to have been complete: twice the time between two of its syncs. */
export const freshSince = sql<Date>`now() - 2 * sync_stretch * sync_every`;

/**
 * When a stream `s` was complete last, as far as anybody knows: of a time of the future, which was noted while the clock of Postgres was
 * ahead, nothing follows.
 */
export const lastComplete = sql<Date | null>`case when s.last_success_at <= clock_timestamp() then s.last_success_at end`;

/**
 * Whether a row of `sync.connections` is stale: scheduled, not paused, and a supported stream was not complete for more than
 * twice the time between two syncs. A stream that was never complete counts from when the connection was added.
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
