import type { Resource } from '../../resources/resource.ts';
import { streamsOf } from '../../resources/streams-of.ts';
import { latestVersion } from '../history/latest-version.ts';
import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { takeWriteTime } from '../clock/resource-clock.ts';
import { withoutNestedLoops } from '../transactions/without-nested-loops.ts';
import { longHeld, surelyListed } from './list-lag.ts';
import { lockListing, type ListingInHand } from './listing-in-hand.ts';

export interface Absent {
  /** Number of records that the listing did not show. */
  absent: number;
  /**
   * How many of these may be younger than a list may lag: they are new, or never landed, so that their version is not known. Listing them once more
   * decides nothing.
   */
  young: number;
  /** Number of records that it showed under an older version than the one held: see `find-ahead.ts`. */
  ahead: number;
  /** Number of requests that another listing would cost. */
  pages: number;
  /** The listing showed records without a usable ID: each may be one of those that are absent. */
  nameless: boolean;
}

/**
 * SQL for records without an ID that can be stored, and not discarded, that the listings of a run, or another run since they began, showed: $1
 * connection, $2 streams, $3 run, $4 resource.
 */
export const namelessSql = `
  select from sync.quarantine nameless
  where nameless.connection_id = $1 and nameless.resource = $4 and nameless.stream = any($2::text[])
    and nameless.record_id is null and nameless.status = 'open'
    -- Whoever met it last is its run.
    and (nameless.run_id = $3 or nameless.last_seen_at >= (
      select min(started_at) from sync.passes
      where connection_id = $1 and stream = any($2::text[]) and kind = 'reconcile' and run_id = $3
    ))`;

/**
 * Finds records that a complete listing did not show: held, or alive in history though their rows are lost, or waiting in quarantine, before it began
 * and not met since. Also finds those that it showed in a good form though a newer bad one waits. Each becomes a discrepancy that is to be confirmed.
 * An incomplete listing proves nothing. Rows that the run itself has written come from a listing that was restarted. Records that the run has fetched
 * since the listing began are decided; an execution that continues the run skips them.
 */
export async function findAbsent(
  warehouse: Warehouse,
  input: ListingInHand & { lookbackMilliseconds: number },
): Promise<Absent> {
  const { connectionId, resource, runId, lookbackMilliseconds } = input;
  // Ticks in a separate transaction, so that landings do not wait for the comparison.
  const foundAt = await takeWriteTime(warehouse.db, { connectionId, resource: resource.name });
  return inTransaction(warehouse.pool, async ({ client }) => {
    await lockListing(client, input);
    const values = [connectionId, streamsOf(resource), runId];
    const listing = await client.query<{ complete: boolean; pages: number }>(
      `select count(completed_at) = cardinality($2::text[]) as complete, coalesce(sum(pages), 0)::bigint as pages
       from sync.passes
       where connection_id = $1 and stream = any($2::text[]) and kind = 'reconcile' and run_id = $3`,
      values,
    );
    const { complete = false, pages = 0 } = listing.rows[0] ?? {};
    if (!complete) return { absent: 0, young: 0, ahead: 0, pages, nameless: false };
    await withoutNestedLoops(client, async () => {
      await client.query(keepUnlanded(resource), [...values, resource.name, foundAt]);
      await client.query(dismissOld, [connectionId, resource.name, runId]);
      await client.query(findSql(resource), [...values, resource.name, foundAt]);
      await client.query(dismissShown, [...values, resource.name]);
    });
    const found = await withoutNestedLoops(client, () =>
      client.query<Omit<Absent, 'pages' | 'nameless'>>(
        `select count(*) filter (where d.kind <> 'ahead') as absent, count(*) filter (where d.kind = 'ahead') as ahead,
           count(*) filter (where d.kind <> 'ahead' and case
             when d.version is null then true
             when surely_listed is not null then d.version >= surely_listed
             else coalesce(held._changed_at >= long_held, false)
           end) as young
         from sync.discrepancies d
         left join finance.${resource.name} held on held.connection_id = $1 and held.id = d.record_id
         cross join (
           select ${surelyListed(resource, '$4')} as surely_listed, ${longHeld(resource, '$4')} as long_held
           from sync.passes
           where connection_id = $1 and stream = any($5::text[]) and kind = 'reconcile' and run_id = $3
         ) listing
         where d.connection_id = $1 and d.resource = $2 and d.run_id = $3 and d.status = 'checking'`,
        [connectionId, resource.name, runId, lookbackMilliseconds, streamsOf(resource)],
      ),
    );
    const [{ absent, young, ahead } = { absent: 0, young: 0, ahead: 0 }] = found.rows;
    const listed = await client.query<{ nameless: boolean }>(`select exists (${namelessSql}) as nameless`, [
      ...values,
      resource.name,
    ]);
    return { absent, young, ahead, pages, nameless: listed.rows[0]?.nameless ?? false };
  });
}

/**
 * Returns SQL that keeps the time of the first absence for a record that an older reconcile did not show either, and that never landed: its version
 * is not known, so nothing else tells how long it has been gone. A record that was met since was there.
 */
function keepUnlanded(resource: Resource): string {
  return `
    with listed as materialized (${listedIds})
    update sync.discrepancies d set run_id = $3, found_at = $5, failing_since = null
    from sync.quarantine q
    where d.connection_id = $1 and d.resource = $4 and d.closed_at is null and d.run_id <> $3
      and d.kind = 'extra' and d.version is null and d.status = 'checking' and d.shown_by is not null
      and q.connection_id = $1 and q.resource = $4 and q.record_id = d.record_id
      and q.status = 'open' and q.stream <> 'events' and q.last_seen_at < d.found_at
      and not exists (select from listed where listed.id = d.record_id)
      and not exists (select from finance.${resource.name} f where f.connection_id = $1 and f.id = d.record_id)`;
}

const listedIds = `
      select distinct jsonb_array_elements(records) ->> 0 as id
      from sync.listed_pages
      where connection_id = $1 and stream = any($2::text[]) and listing = 1`;

/** Dismisses records that only the listing before a restart showed otherwise than they are held. */
const dismissShown = `
  update sync.discrepancies d
  set status = 'dismissed', closed_at = clock_timestamp(), closed_why = 'the listing shows it as it is held'
  from (
    select record ->> 0 as id, min((record ->> 1)::timestamptz) as version
    from sync.listed_pages
    cross join lateral jsonb_array_elements(records) as listed (record)
    where connection_id = $1 and stream = any($2::text[]) and listing = 1
    group by record ->> 0
  ) shown
  where d.connection_id = $1 and d.resource = $4 and d.run_id = $3 and d.status = 'checking' and d.kind = 'ahead'
    and d.shown_by is null and shown.id = d.record_id and shown.version = d.version and d.shown_version < d.version`;

/** Dismisses what an older reconcile left open: this one decides it. */
const dismissOld = `
  update sync.discrepancies
  set status = 'dismissed', closed_at = clock_timestamp(), closed_why = 'a later reconcile decides'
  where connection_id = $1 and resource = $2 and closed_at is null and run_id <> $3`;

function findSql(resource: Resource): string {
  return `
    with listed as materialized (${listedIds}
    ), began as (
      select min(started_at) as at, min(served_from) as served
      from sync.passes
      where connection_id = $1 and stream = any($2::text[]) and kind = 'reconcile'
    ), alive as materialized (
      select d.record_id as id
      from sync.discrepancies d, began
      where d.connection_id = $1 and d.resource = $4 and d.run_id = $3 and d.kind = 'extra' and d.status = 'dismissed'
        and d.found_at >= began.at
    ), lost as materialized (
      -- Takes a second for a million records, and 10 us for each deleted one.
      select distinct v.record_id as id
      from history.record_versions v
      where v.connection_id = $1 and v.resource = $4
        and not exists (select from finance.${resource.name} f where f.connection_id = $1 and f.id = v.record_id)
    )
    insert into sync.discrepancies (connection_id, resource, record_id, kind, status, version, run_id, found_at,
      shown_version, shown_hash, shown_at)
    -- A row whose version somebody took away is held all the same, and counts for the delete limit.
    select $1, $4, f.id, 'extra', 'checking', coalesce(f.${resource.version}, 'epoch'), $3, $5::timestamptz, null::timestamptz, null::bytea, null::timestamptz
    from finance.${resource.name} f, began
    where f.connection_id = $1 and (f._first_seen_at < began.at and f._changed_at < began.at or f._run_id = $3)
      and not exists (select from listed where listed.id = f.id)
      and not exists (select from alive where alive.id = f.id)
    union all
    -- Somebody deleted its row, and a rebuild would bring it back.
    select $1, $4, lost.id, 'extra', 'checking', latest.last_synced_at, $3, $5, null, null, null
    from lost cross join lateral (${latestVersion(resource.name, 'lost.id')}) latest, began
    where latest.op = 'upsert' and (latest.recorded_at < began.at or latest.run_id = $3)
      and not exists (select from listed where listed.id = lost.id)
      and not exists (select from alive where alive.id = lost.id)
    union all
    -- It never landed, so there is no version that is deleted.
    select $1, $4, q.record_id, 'extra', 'checking', null, $3, $5, null, null, began.served
    from sync.quarantine q, began
    where q.connection_id = $1 and q.resource = $4 and q.status = 'open' and q.stream <> 'events' and q.last_seen_at < began.at
      and q.record_id is not null
      and not exists (select from listed where listed.id = q.record_id)
      and not exists (select from finance.${resource.name} f where f.connection_id = $1 and f.id = q.record_id)
    union all
    -- A bad version waits, and the listing shows a good one that is older: either it lags, or the version was of a wrong clock.
    select $1, $4, f.id, 'ahead', 'checking', f.${resource.version}, $3, $5, f.${resource.version}, f._content_hash, began.served
    from sync.quarantine q
    join finance.${resource.name} f on f.connection_id = $1 and f.id = q.record_id, began
    where q.connection_id = $1 and q.resource = $4 and q.status = 'open' and q.stream <> 'events' and q.last_seen_at < began.at
      and f._changed_at < $5::timestamptz and exists (select from listed where listed.id = q.record_id)
    on conflict (connection_id, resource, record_id) where closed_at is null do nothing`;
}
