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
 * In SQL, over the passes of a listing: a version that is older than this was there for any list to show, however far it lags. Null of a
 * service that does not tell its time: a version may be of any time then, and what was written here before `longHeld` is as old.
 */
export function surelyListed(resource: Resource, lookback: string): string {
  return `min(served_from) - ${listLag(resource, lookback)}`;
}

/** In SQL, over the passes of a listing: what was written here before, by the order of writes, was there for any list to show. */
export function longHeld(resource: Resource, lookback: string): string {
  return `min(started_at) - ${listLag(resource, lookback)}`;
}

/**
 * In SQL, over the passes of a listing of a service that does not tell its time: the newest version that it showed, for want of its time,
 * unless that is of the future by the clock of the database (`now`). Null when it showed none.
 */
export function newestShown(now: string): string {
  return `case when max(highest_seen) is not null then least(max(highest_seen), ${now}) end`;
}

/**
 * In SQL, over a discrepancy `d`: the reconcile that showed it just so (`shown_by`) is longer ago than a list may lag. The service's clock
 * must say so, as far as it tells (`byService`, null when not), and that of the database, since either may be put right meanwhile.
 */
export function isLongAgo(byService: string, lag: string): string {
  return `coalesce(${byService}, true) and not exists (
          select from sync.runs shown_by
          where shown_by.run_id = d.shown_by and coalesce(shown_by.finished_at, 'infinity') > clock_timestamp() - ${lag}
        )`;
}
