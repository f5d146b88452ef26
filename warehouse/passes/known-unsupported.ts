import { sql } from 'kysely';

/**
 * Whether it was learned within a day that the list of a row of `sync.streams` is not offered for the platform; until the day is over, it is not
 * requested again. A time in the future came from a clock that was ahead, and does not count. For a list that returned pages before, 7 days of
 * nothing but 404 are required.
 */
export const knownUnsupported = sql<boolean>`(
  capability = 'unsupported' and capability_checked_at > now() - interval '1 day' and capability_checked_at <= now()
  and (listed_at is null or missing_since <= capability_checked_at - interval '7 days')
)`;
