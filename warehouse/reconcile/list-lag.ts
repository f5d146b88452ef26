import type { Resource } from '../../resources/resource.ts';

/**
 * In SQL, how long a list may lag behind fetches, events and webhooks: for the lookback. Where a fetch can decide, it is ten minutes at
 * least, however short the lookback: services lag by seconds, and a fetch costs a request, where a wrong deletion costs a record.
 * `lookback`: the parameter, milliseconds.
 */
export function listLag({ fetchable }: Resource, lookback: string): string {
  const interval = `${lookback} * interval '1 millisecond'`;
  return fetchable ? `greatest(${interval}, interval '10 minutes')` : interval;
}

/**
 * In SQL, over the passes of a listing: what is older than this was there for any list to show, however far it lags.
 * A service that does not tell its time is taken to be at the newest version that it showed.
 */
export function surelyListed(resource: Resource, lookback: string): string {
  return `coalesce(min(served_from), max(highest_seen)) - ${listLag(resource, lookback)}`;
}
