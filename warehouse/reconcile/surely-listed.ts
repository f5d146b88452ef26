/**
 * In SQL, over the passes of a listing: what is older than this was there for any list to show, however far it lags within the lookback.
 * A service that does not tell its time is taken to be at the newest version that it showed. `lookback`: the parameter, milliseconds.
 */
export function surelyListed(lookback: string): string {
  return `coalesce(min(served_from), max(highest_seen)) - ${lookback} * interval '1 millisecond'`;
}
