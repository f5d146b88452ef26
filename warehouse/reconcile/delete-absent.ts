import type { Resource } from '../../resources/resource.ts';
import { firstStream, streamsOf } from '../../resources/streams-of.ts';
import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { lockResource } from '../passes/lock-pass.ts';
import { closeGone } from '../quarantine/close-gone.ts';
import type { RunScope } from '../record-scope.ts';
import { applyTombstones } from '../tombstones/apply-tombstones.ts';
import { withoutNestedLoops } from '../transactions/without-nested-loops.ts';
import { checkApproval, type DeletionQuestion } from './deletion-question.ts';
import { lockListing, type ListingInHand } from './listing-in-hand.ts';
import { readStandstill } from './read-standstill.ts';
import { readWaitingDeletions } from './read-waiting-deletions.ts';

export interface Deleted {
  deleted: number;
  /** Records that are gone at the source and stay until a person approves their deletion. */
  waiting: number;
  /** Records of the resource that the warehouse held, in history at least, before the run deleted any; includes `waiting` and `before`. */
  held: number;
  /** How many of these the run has already deleted. */
  before: number;
}

/** Up to this number, deletions need no approval, unless they are all there is. */
const neverAskedAbout = 50;

/**
 * Deletes the records whose absence was confirmed. If they are more than the limit (a share of the resource, 0 to 1) or all there are, none is
 * deleted before a person approves. Records that the run has already deleted count too, because it may have listed the resource again since. Stops if
 * the run has stood still for too long, which `finishResource` reports.
 */
export async function deleteAbsent(
  warehouse: Warehouse,
  input: ListingInHand & { limit: number; lookbackMilliseconds: number },
): Promise<Deleted> {
  const { confirmed, before, ...counted } = await countAbsent(warehouse, input);
  const held = counted.held + before;
  const gone = confirmed + before;
  const overLimit = gone > neverAskedAbout && gone > input.limit * held;
  // The listing showed none of the records, though for some it is too early to say so.
  const all = gone > 1 && confirmed + counted.undecided >= counted.compared;
  if (confirmed > 0 && (overLimit || all)) return { deleted: 0, waiting: confirmed, held, before };
  const deleted = await deleteConfirmed(warehouse, { ...input, foundBy: input.runId, listing: input });
  return { deleted, waiting: 0, held, before };
}

interface Absentees {
  held: number;
  /** How many of these the listing can have shown. */
  compared: number;
  confirmed: number;
  undecided: number;
  /** Records that the run has already deleted. */
  before: number;
}

async function countAbsent(
  { pool }: Warehouse,
  { connectionId, resource, runId }: RunScope,
): Promise<Absentees> {
  const { rows } = await inTransaction(pool, ({ client }) =>
    withoutNestedLoops(client, () =>
      client.query<Absentees>(
        `with lost as (
       select count(*) from sync.discrepancies d
       where connection_id = $1 and resource = $2 and run_id = $3 and status in ('confirmed', 'checking')
         and kind = 'extra' and version is not null
         and not exists (select from finance.${resource.name} f where f.connection_id = $1 and f.id = d.record_id)
     )
     select
       (select count(*) from finance.${resource.name} where connection_id = $1) + lost.count as held,
       -- Rows that another run has written since the listing began do not count: they say nothing about the listing.
       (select count(*) from finance.${resource.name} where connection_id = $1 and (_run_id = $3 or _changed_at < (
          select min(started_at) from sync.passes
          where connection_id = $1 and stream = any($4::text[]) and kind = 'reconcile' and run_id = $3
        ))) + lost.count as compared,
       (select count(*) from sync.discrepancies
        where connection_id = $1 and resource = $2 and run_id = $3 and status = 'confirmed'
          and kind = 'extra' and version is not null) as confirmed,
       (select count(*) from sync.discrepancies
        where connection_id = $1 and resource = $2 and run_id = $3 and status = 'checking'
          and kind = 'extra' and version is not null) as undecided,
       (select count(*) from sync.discrepancies
        where connection_id = $1 and resource = $2 and run_id = $3 and status = 'repaired'
          and kind = 'extra' and version is not null) as before
     from lost`,
        [connectionId, resource.name, runId, streamsOf(resource)],
      ),
    ),
  );
  return rows[0] ?? { held: 0, compared: 0, confirmed: 0, undecided: 0, before: 0 };
}

/**
 * Deletes what a person was shown of these resources and approved: the findings of stopped reconciles. Returns how many records left `finance`. If
 * repeated, it continues with what is left. Throws ApprovalOutdated, and deletes nothing, if anything else waits.
 */
export async function deleteApproved(
  warehouse: Warehouse,
  input: { connectionId: string; resources: readonly Resource[]; runId: string; approved: DeletionQuestion },
): Promise<number> {
  const { connectionId, resources, runId, approved } = input;
  const waiting = await readWaitingDeletions(warehouse, { connectionId });
  checkApproval(waiting, { connectionId, resources: resources.map(({ name }) => name), approved });
  let deleted = 0;
  for (const resource of resources) {
    const foundBy = waiting.find((one) => one.resource === resource.name)?.run_id;
    if (foundBy !== undefined)
      deleted += await deleteConfirmed(warehouse, { connectionId, resource, runId, foundBy });
  }
  return deleted;
}

interface ToDelete extends RunScope {
  /** The run whose findings, and no others, are deleted. They were shown to a person, and can only have become fewer since. */
  foundBy: string;
  /** For a run that deletes its own findings. */
  listing?: ListingInHand & { lookbackMilliseconds: number };
}

async function deleteConfirmed(warehouse: Warehouse, input: ToDelete): Promise<number> {
  let deleted = 0;
  for (;;) {
    const batch = await deleteBatch(warehouse, input);
    if (batch === undefined) return deleted;
    deleted += batch;
  }
}

async function deleteBatch(
  warehouse: Warehouse,
  { connectionId, resource, runId, foundBy, listing }: ToDelete,
): Promise<number | undefined> {
  return inTransaction(warehouse.pool, async ({ client }) => {
    if (listing !== undefined) await lockListing(client, listing);
    const { landedAt } = await lockResource(client, { connectionId, resource: resource.name, runId });
    if (listing !== undefined && (await readStandstill(client, listing)).tooLong) return undefined;
    const { rows } = await client.query<{
      id: string;
      version: string | null;
      landed: boolean;
      foundAt: string;
    }>(
      `select record_id as id, greatest(version, gone_by)::text as version, version is not null as landed, found_at::text as "foundAt"
       from sync.discrepancies
       where connection_id = $1 and resource = $2 and run_id = $3 and status = 'confirmed' and kind = 'extra'
       limit 1000
       for update`,
      [connectionId, resource.name, foundBy],
    );
    if (rows.length === 0) return undefined;
    const where = { connectionId, resource, runId, landedAt };
    // A record that never landed only waits in quarantine. The time by which it was gone is known too, because the service tells a time.
    const deletions = rows.flatMap(({ id, version }) =>
      version === null ? [] : [{ id, version, deletedAt: landedAt }],
    );
    const { deleted } = await applyTombstones(client, { ...where, source: 'reconcile', deletions });
    await closeGone(client, { ...where, gone: rows.filter(({ landed }) => !landed) });
    await client.query(
      `with gone as materialized (select $1::text as connection_id, id from unnest($3::text[]) as batch (id))
       update sync.discrepancies d set
         status = case when kept.id is null then 'repaired' else 'dismissed' end,
         closed_at = clock_timestamp(),
         closed_why = case when kept.id is null then 'deleted' else 'a newer version had arrived' end
       from gone
       left join finance.${resource.name} kept on kept.connection_id = gone.connection_id and kept.id = gone.id
       where d.connection_id = gone.connection_id and d.resource = $2 and d.record_id = gone.id and d.status = 'confirmed'
         and d.closed_at is null`,
      [connectionId, resource.name, rows.map(({ id }) => id)],
    );
    await client.query(
      `insert into sync.run_streams (run_id, connection_id, stream, status, deleted)
       values ($1, $2, $3, 'running', $4)
       on conflict (run_id, stream) do update set deleted = sync.run_streams.deleted + excluded.deleted`,
      [runId, connectionId, firstStream(resource), deleted],
    );
    return deleted;
  });
}
