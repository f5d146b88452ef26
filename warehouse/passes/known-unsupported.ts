import { sql } from 'kysely';

/**
 * Whether it was learned within a day that the list of a row of `sync.streams` is not offered for the platform: until then it
 * is not asked for again; what was learned in the future, by a clock that was ahead, was learned nobody knows when. Of a list that returned pages before, only 7 days of nothing but 404 say so.
 */
export const knownUnsupported = sql<boolean>`(
  capability = 'unsupported' and capability_checked_at > now() - interval '1 day' and capability_checked_at <= now()
  and (listed_at is null or missing_since <= capability_checked_at - interval '7 days')
)`;
