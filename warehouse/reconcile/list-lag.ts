import type { Resource } from '../../resources/resource.ts';

/**
 * Returns SQL for how long a list may lag behind fetches, events and webhooks: the lookback. If a fetch can decide, it is at least ten minutes:
 * services lag by seconds, and a needless fetch costs a request, while a wrong deletion costs a record. `lookback` is the parameter, in milliseconds.
 */
export function listLag({ fetchable }: Resource, lookback: string): string {
  const interval = `${lookback} * interval '1 millisecond'`;
  return fetchable ? `greatest(${interval}, interval '10 minutes')` : interval;
}

/**
 * Returns SQL over the passes of a listing: any list shows a version that is older than this, however far it lags. Null for a service that tells no
 * time: a version may be of any time then, and rows written before `longHeld` are as old.
 */
export function surelyListed(resource: Resource, lookback: string): string {
  return `min(served_from) - ${listLag(resource, lookback)}`;
}

/** Returns SQL over the passes of a listing: any list shows what was written here before this time, in the order of writes. */
export function longHeld(resource: Resource, lookback: string): string {
  return `min(started_at) - ${listLag(resource, lookback)}`;
}

/**
 * Returns SQL over the passes of a listing of a service that tells no time: instead of its time, the newest version that the listing showed, limited
 * by the clock of the database (`now`). Null if it showed none.
 */
export function newestShown(now: string): string {
  return `case when max(highest_seen) is not null then least(max(highest_seen), ${now}) end`;
}

/**
 * Returns SQL over a discrepancy `d`: the reconcile that showed the same (`shown_by`) is longer ago than a list may lag. Both the service's clock, if
 * it tells (`byService`, otherwise null), and that of the database must say so, since either may be corrected meanwhile.
 */
export function isLongAgo(byService: string, lag: string): string {
  return `coalesce(${byService}, true) and not exists (
          select from sync.runs shown_by
          where shown_by.run_id = d.shown_by and coalesce(shown_by.finished_at, 'infinity') > clock_timestamp() - ${lag}
        )`;
}
