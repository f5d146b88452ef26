import { streamsOf } from '../../resources/streams-of.ts';
import { latestVersion } from '../history/latest-version.ts';
import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import type { RunScope } from '../record-scope.ts';
import { withoutNestedLoops } from '../transactions/without-nested-loops.ts';
import { leaveUndecided } from './fetches-failing.ts';
import { namelessSql } from './find-absent.ts';
import { isLongAgo, listLag, longHeld, newestShown, surelyListed } from './list-lag.ts';
import { lockListing, type ListingInHand } from './listing-in-hand.ts';

/** A record whose fate a fetch decides. */
export interface Unconfirmed {
  readonly id: string;
  /** extra: the listing did not show it; ahead: the listing showed it under an older version than the one held. */
  readonly kind: 'extra' | 'ahead';
  /** Its fetch has failed in this run, while other fetches were answered. */
  readonly failing: boolean;
  /** When another run last met the record, as Postgres writes it; null: never. */
  readonly metAt: string | null;
}

/** Reads the next undecided records, at most `limit`; those whose fetch has failed come last. */
export async function readUnconfirmed(
  { pool }: Warehouse,
  { connectionId, resource, runId }: RunScope,
  limit: number,
): Promise<Unconfirmed[]> {
  const { rows } = await pool.query<Unconfirmed>(
    `select record_id as id, kind, failing_since is not null as failing, met_at::text as "metAt"
     from sync.discrepancies
     where connection_id = $1 and resource = $2 and run_id = $3 and status = 'checking' and shown_by is distinct from $3
     order by failing_since nulls first, record_id
     limit $4`,
    [connectionId, resource.name, runId, limit],
  );
  return rows;
}

/**
 * Confirms that the source has no such record: it is to be deleted, unless a tombstone had already deleted what was found. A record that never landed
 * (no version) came after any tombstone, and is gone once more. The record was gone by `goneBy`, a time of the service; if the service tells no time,
 * by the newest version that the listing showed. A record that its list showed is absent all the same: the list lagged. The record stays undecided,
 * since it may have been recreated, if another run has written a newer version since it was found, or has met it since `metAt`, before it was
 * requested.
 */
export async function confirmAbsent(
  warehouse: Warehouse,
  listing: ListingInHand,
  { recordId, goneBy, metAt }: { recordId: string; goneBy: string | null; metAt: string | null },
): Promise<void> {
  const { connectionId, resource, runId } = listing;
  await inTransaction(warehouse.pool, async ({ client }) => {
    await lockListing(client, listing);
    const { rowCount } = await client.query(
      `update sync.discrepancies d set
       kind = case when known.buried then d.kind else 'extra' end,
       met_at = null,
       status = case when known.buried then 'dismissed' else 'confirmed' end,
       closed_at = case when known.buried then clock_timestamp() end,
       closed_why = case when known.buried then 'the list lagged behind' end,
       gone_by = coalesce($5::timestamptz, (
         select ${newestShown('clock_timestamp()')} from sync.passes
         where connection_id = $1 and stream = any($6::text[]) and kind = 'reconcile' and run_id = $3
       ))
     from (
       select c.id, c.version is not null and not exists (
         select from finance.${resource.name} where connection_id = $1 and id = $4
       ) and exists (
         select from sync.tombstones where connection_id = $1 and resource = $2 and record_id = $4
       ) and not exists (
         -- Its row was lost, and an event buried what was made again since: history does not know yet that it is gone.
         select from (${latestVersion(resource.name, '$4')}) latest where latest.op = 'upsert'
       ) as buried
       from sync.discrepancies c
       where c.connection_id = $1 and c.resource = $2 and c.run_id = $3 and c.record_id = $4 and c.status = 'checking' and c.closed_at is null
         and c.met_at is not distinct from $7::timestamptz
         and not exists (
           select from finance.${resource.name} held
           where held.connection_id = $1 and held.id = $4 and held.${resource.version} > c.version
         )
     ) known
     where d.id = known.id`,
      [connectionId, resource.name, runId, recordId, goneBy, streamsOf(resource), metAt],
    );
    if (rowCount === 0) await leaveUndecided(client, listing, recordId);
  });
}

/**
 * Returns the end of the second in which the service answered, as Postgres reads it; no version that the service can have shown before is newer. Null
 * if the service did not tell its time.
 */
export function endOfSecond(servedAt: Date | null): string | null {
  return servedAt === null ? null : servedAt.toISOString().replace(/\.\d+Z$/, '.999999Z');
}

/**
 * Opens the streams of the resource once more: a record that is absent again is gone. The times of the first listing are kept, because no long time
 * may lie between the two.
 */
export async function listAgain(warehouse: Warehouse, listing: ListingInHand): Promise<void> {
  const { connectionId, resource, runId } = listing;
  await inTransaction(warehouse.pool, async ({ client }) => {
    await lockListing(client, listing);
    await client.query(
      `update sync.passes
     set listing = 2, pages = 0, cursor = null, completed_at = null, served_from = null, served_until = null,
       answered_from = null, answered_at = latest.answered_at, answered_before = latest.served_until
     from (
       select max(served_until) as served_until, max(answered_at) as answered_at
       from sync.passes
       where connection_id = $1 and stream = any($2::text[]) and kind = 'reconcile' and run_id = $3
     ) latest
     where connection_id = $1 and stream = any($2::text[]) and kind = 'reconcile' and run_id = $3 and listing = 1`,
      [connectionId, streamsOf(resource), runId],
    );
  });
}

/**
 * Confirms records that the second listing did not show either, and that no other run has met since they were found. The listing must be complete,
 * and each of its records must have an ID, because one without may be any of the missing. It decides only about records that were there for longer
 * than a list may lag when it began; younger ones stay undecided. The age of a record that never landed is not known. A fetch decides about it or, if
 * none can (`unfetchable`), a reconcile that did not show it either, longer ago than a list may lag.
 *
 * A record that a fetch has confirmed, and this listing shows, is in doubt again: it may have been recreated, or the fetch was wrong.
 *
 * Confirmed records were gone when the second listing began. One that was recreated since may have been behind the page that was read, or later than
 * the list lags, and is newer than its tombstone.
 */
export async function confirmBySecondListing(
  warehouse: Warehouse,
  input: ListingInHand & { lookbackMilliseconds: number; unfetchable: boolean },
): Promise<void> {
  const { connectionId, resource, runId, lookbackMilliseconds, unfetchable } = input;
  await inTransaction(warehouse.pool, async ({ client }) => {
    await lockListing(client, input);
    await withoutNestedLoops(client, () =>
      client.query(
        `with complete as (
         select coalesce(min(served_from), ${newestShown('min(started_at)')}) as began,
           ${surelyListed(resource, '$5')} as surely_listed, ${longHeld(resource, '$5')} as long_held
         from sync.passes
         where connection_id = $1 and stream = any($2::text[]) and kind = 'reconcile' and run_id = $3
           and listing = 2 and completed_at is not null
         having count(*) = cardinality($2::text[])
       ), listed as materialized (
         select distinct jsonb_array_elements(records) ->> 0 as id
         from sync.listed_pages
         where connection_id = $1 and stream = any($2::text[]) and listing = 2
       )
       update sync.discrepancies d set
         status = case when d.status = 'confirmed' then 'checking' when shown then 'dismissed' else 'confirmed' end,
         closed_at = case when d.status = 'checking' and shown then clock_timestamp() end,
         closed_why = case when d.status = 'checking' and shown then 'the second listing showed it' end,
         met_at = case when d.status = 'confirmed' then clock_timestamp() else d.met_at end,
         gone_by = case when d.status = 'checking' and not shown then complete.began end
       from (
         select c.id, listed.id is not null as shown, held._changed_at as changed_at
         from sync.discrepancies c
         left join listed on listed.id = c.record_id
         left join finance.${resource.name} held on held.connection_id = $1 and held.id = c.record_id
         where c.connection_id = $1 and c.resource = $4 and c.run_id = $3 and c.status in ('checking', 'confirmed') and c.kind = 'extra'
       ) judged, complete
       where d.id = judged.id
         and (shown or d.status = 'checking' and d.met_at is null and not exists (${namelessSql}) and case
           when d.version is null then $6 and d.shown_by <> $3 and ${isLongAgo('d.shown_at < surely_listed', listLag(resource, '$5'))}
           when surely_listed is not null then d.version < surely_listed
           else coalesce(changed_at < long_held, true)
         end)`,
        [connectionId, streamsOf(resource), runId, resource.name, lookbackMilliseconds, unfetchable],
      ),
    );
  });
}
