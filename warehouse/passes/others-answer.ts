import { sql } from 'kysely';

/**
 * Whether a list of the connection other than that of `s`, a row of `sync.streams`, returned a page in a run of the last day. Events belong to no
 * company.
 */
export const othersAnswer = sql<boolean>`exists (
  select from sync.runs r
  join sync.run_streams other using (run_id)
  where r.connection_id = s.connection_id and r.started_at > clock_timestamp() - interval '1 day'
    and other.stream not in (s.stream, 'events') and other.pages > 0
)`;
