import { sql } from 'kysely';

/**
 * Whether a row of `sync.connections` is stale: scheduled, not paused, and a supported stream was not complete for more than
 * twice its interval. A stream that was never complete counts from when the connection was added.
 */
export const stale = sql<boolean>`(
  sync_every is not null and paused_at is null
  and now() - 2 * sync_every > coalesce(
    (
      select min(coalesce(s.last_success_at, created_at))
      from sync.streams s
      where s.connection_id = connections.connection_id and s.capability <> 'unsupported'
    ),
    created_at
  )
)`;
