/**
 * In SQL, how long a list may lag behind fetches, events and webhooks. Services lag by seconds. It is ten minutes at least, however
 * short the lookback: a lookback that is too short costs one more reconcile, a wrong deletion costs a record. `lookback`: the
 * parameter, milliseconds.
 */
export function listLag(lookback: string): string {
  return `greatest(${lookback} * interval '1 millisecond', interval '10 minutes')`;
}

/**
 * In SQL, over the passes of a listing: what is older than this was there for any list to show, however far it lags.
 * A service that does not tell its time is taken to be at the newest version that it showed.
 */
export function surelyListed(lookback: string): string {
  return `coalesce(min(served_from), max(highest_seen)) - ${listLag(lookback)}`;
}
