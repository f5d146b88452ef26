import type { PoolClient } from 'pg';
import { streamsOf } from '../../resources/streams-of.ts';
import { CommitsLost } from '../errors.ts';
import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { closeUnlisted } from './close-unlisted.ts';
import type { Deleted } from './delete-absent.ts';
import type { RecordScope, RunScope } from '../record-scope.ts';
import { namelessSql } from './find-absent.ts';
import { lockListing, type ListingInHand } from './listing-in-hand.ts';
import { mayStandStillSeconds, readStandstill } from './read-standstill.ts';
import { cannotLand, readTotals } from './read-totals.ts';

/**
 * Proves whether source and warehouse are equal, writes the proof to the run, and clears what the reconcile had noted. A listing that stood still
 * proves and settles nothing.
 *
 * While records that are gone at the source wait for approval, nothing is equal. Returns how many wait: none if the listing stood still.
 */
export async function finishResource(
  warehouse: Warehouse,
  input: ListingInHand & Omit<Deleted, 'deleted'> & { lookbackMilliseconds: number },
): Promise<{ waiting: number; equal: boolean }> {
  const { connectionId, resource, runId } = input;
  return inTransaction(warehouse.pool, async ({ client }) => {
    await lockListing(client, input);
    const began = await readListingStart(client, input);
    const totals = await readTotals(client, input);
    const { tooLong: stoodStill } = await readStandstill(client, input);
    if (stoodStill) await doubtConfirmed(client, input);
    else await requireDeleted(client, input);
    const waiting = stoodStill ? 0 : input.waiting;
    const undecided = await keepUndecided(client, input);
    for (const { stream, ...proof } of totals) {
      const failure = describeFailure({ ...input, ...undecided, waiting, stoodStill, equal: proof.equal });
      await client.query(
        `update sync.run_streams set
           totals = $3,
           status = case when quarantined > 0 or $4::text is not null then 'partial' else 'succeeded' end,
           failure_type = $4,
           failure = $5,
           finished_at = clock_timestamp()
         where run_id = $1 and stream = $2`,
        [runId, stream, JSON.stringify(proof), failure?.type ?? null, failure?.sentence ?? null],
      );
    }
    const decided = undecided.unclear + undecided.unanswered === 0;
    const equal = totals.every((total) => total.equal) && decided && !stoodStill;
    if (!stoodStill) {
      const explained = totals.some(({ source }) => cannotLand in source) || waiting > 0;
      const answered = decided && (equal || explained || (await hasBadRecords(client, input)));
      await settle(client, input, { began, answered, proved: equal && waiting === 0 });
      await closeUnlisted(client, { ...input, began });
    }
    await client.query(
      `delete from sync.listed_pages where connection_id = $1 and stream = any($2::text[])`,
      [connectionId, streamsOf(resource)],
    );
    await client.query(
      `delete from sync.passes
       where connection_id = $1 and stream = any($2::text[]) and kind = 'reconcile' and run_id = $3`,
      [connectionId, streamsOf(resource), runId],
    );
    return { waiting, equal };
  });
}

/** Puts confirmed records in doubt again, because absent ones may live; the next reconcile decides. */
async function doubtConfirmed(
  client: PoolClient,
  { connectionId, resource, runId }: RunScope,
): Promise<void> {
  await client.query(
    `update sync.discrepancies set status = 'checking', gone_by = null
     where connection_id = $1 and resource = $2 and run_id = $3 and status = 'confirmed'`,
    [connectionId, resource.name, runId],
  );
}

/** Checks that confirmed records were deleted, or wait for approval. Throws CommitsLost if the deletions are lost with their database. */
async function requireDeleted(
  client: PoolClient,
  { connectionId, resource, runId, waiting }: RunScope & Pick<Deleted, 'waiting'>,
): Promise<void> {
  const { rowCount } = await client.query(
    `select from sync.discrepancies
     where connection_id = $1 and resource = $2 and run_id = $3 and status = 'confirmed' and kind = 'extra'
       and version is not null
     offset $4 limit 1`,
    [connectionId, resource.name, runId, waiting],
  );
  if (rowCount !== 0) throw new CommitsLost(`this reconcile of ${resource.name}`);
}

/**
 * Whether records wait in quarantine, or somebody has discarded one that never landed. Source and warehouse are not equal then, and another listing
 * changes nothing.
 */
async function hasBadRecords(client: PoolClient, { connectionId, resource }: RecordScope): Promise<boolean> {
  const { rowCount } = await client.query(
    `select from sync.quarantine q
     where q.connection_id = $1 and q.resource = $2 and (q.status = 'open' or q.discarded_content is not null and not exists (
       select from finance.${resource.name} held where held.connection_id = $1 and held.id = q.record_id
     ))
     limit 1`,
    [connectionId, resource.name],
  );
  return rowCount !== 0;
}

interface Undecided {
  /** Records shown under an older version than the one held, or not shown though younger than a list may lag. */
  unclear: number;
  /** Records whose fetches kept failing. */
  unanswered: number;
  /** The listing showed records without an ID that can be stored. */
  nameless: boolean;
}

/** Counts the undecided records. They wait for the next reconcile; their `shown_by` names this run, or an earlier one that showed the same. */
async function keepUndecided(
  client: PoolClient,
  { connectionId, resource, runId }: RunScope,
): Promise<Undecided> {
  const { rows } = await client.query<Undecided>(
    `with undecided as (
       update sync.discrepancies set shown_by = coalesce(shown_by, $3)
       where connection_id = $1 and resource = $4 and run_id = $3 and status = 'checking'
       returning failing_since
     )
     select count(*) filter (where failing_since is null) as unclear, count(failing_since) as unanswered,
       exists (${namelessSql}) as nameless
     from undecided`,
    [connectionId, streamsOf(resource), runId, resource.name],
  );
  return rows[0] ?? { unclear: 0, unanswered: 0, nameless: false };
}

/** Reads when the listing began. */
async function readListingStart(
  client: PoolClient,
  { connectionId, resource, runId }: RunScope,
): Promise<string> {
  const { rows } = await client.query<{ began: string }>(
    `select min(started_at)::text as began from sync.passes
     where connection_id = $1 and stream = any($2::text[]) and kind = 'reconcile' and run_id = $3`,
    [connectionId, streamsOf(resource), runId],
  );
  return rows[0]?.began ?? '';
}

/**
 * Reads how the run has finished the resource, whose listing is gone. If it is gone without a proof, because another run has taken it, nothing is
 * equal, and `finishRun` says so.
 */
export async function readFinished(
  { pool }: Warehouse,
  { connectionId, resource, runId }: RunScope,
): Promise<{ waiting: number; held: number; equal: boolean }> {
  const { rows } = await pool.query<{ waiting: number; held: number; equal: boolean }>(
    `select
       (select count(*) from sync.discrepancies
        where connection_id = $1 and resource = $2 and run_id = $3 and status = 'confirmed'
          and kind = 'extra' and version is not null) as waiting,
       (select count(*) from finance.${resource.name} where connection_id = $1) as held,
       (select count(*) = cardinality($4::text[]) and bool_and((totals ->> 'equal')::boolean) from sync.run_streams
        where run_id = $3 and stream = any($4::text[]) and totals is not null) is true as equal`,
    [connectionId, resource.name, runId, streamsOf(resource)],
  );
  return rows[0] ?? { waiting: 0, held: 0, equal: false };
}

function describeFailure(
  input: RecordScope &
    Undecided &
    Omit<Deleted, 'deleted'> & {
      lookbackMilliseconds: number;
      stoodStill: boolean;
      equal: boolean;
    },
): { type: string; sentence: string } | undefined {
  const { connectionId, resource, waiting, held, before } = input;
  const { unclear, unanswered, nameless, stoodStill, equal } = input;
  if (waiting > 0) {
    const more = before === 0 ? '' : ` beside ${before} that this reconcile has deleted`;
    return {
      type: 'ApprovalNeeded',
      sentence: `${waiting} of ${held} ${resource.name} are gone at the source${more}, and none was deleted. If that is right, approve it: "daybook reconcile ${connectionId} --approve-deletes".`,
    };
  }
  if (stoodStill) {
    const minutes = Math.round(mayStandStillSeconds(input.lookbackMilliseconds) / 60);
    return {
      type: 'NotEqual',
      sentence: `The listing of ${resource.name} stood still for more than ${minutes} minutes, each time that it was begun, and what it showed before may be gone: nothing proves that source and warehouse are equal. The next reconcile lists them again.`,
    };
  }
  if (unanswered > 0) {
    return {
      type: 'NotEqual',
      sentence: `${unanswered} of the ${resource.name} that the list shows differently from what is held could not be fetched, for the service kept failing: they stay as they are, and the next reconcile asks again.`,
    };
  }
  if (unclear > 0 && nameless) {
    return {
      type: 'NotEqual',
      sentence: `The list of ${resource.name} does not show ${unclear} as they are held, and shows records without an id that can be stored, which may be these: nothing follows from it. "daybook quarantine list" shows them.`,
    };
  }
  if (unclear > 0) {
    return {
      type: 'NotEqual',
      sentence: `The list of ${resource.name} shows ${unclear} differently from what is held, and no fetch can decide whether it lags: the next reconcile does.`,
    };
  }
  if (!equal) {
    return {
      type: 'NotEqual',
      sentence: `The ${resource.name} of source and warehouse are not equal; the run's totals and the quarantine say by what.`,
    };
  }
  return undefined;
}

/**
 * Settles the reasons for a reconcile. They are answered by a complete listing that left no record undecided, and no difference unexplained, except
 * reasons announced after it began, which it may have missed. The end of the run puts off those that are left.
 */
async function settle(
  client: PoolClient,
  { connectionId, resource }: RunScope,
  { began, answered, proved }: { began: string; answered: boolean; proved: boolean },
): Promise<void> {
  await client.query(
    `update sync.quarantine
     set status = 'discarded', closed_at = clock_timestamp(), closed_why = 'a reconcile found what was deleted'
     where connection_id = $1 and resource = $2 and stream = 'events' and status = 'open' and first_seen_at < $3`,
    [connectionId, resource.name, began],
  );
  await client.query(
    `update sync.streams set
       last_reconcile_at = case when $4 then clock_timestamp() else last_reconcile_at end,
       -- A time that is still to come was written while a clock was ahead: the next reconcile answers it.
       reconcile_wanted_at = case when reconcile_wanted_at >= $3 or not $5 then least(reconcile_wanted_at, clock_timestamp()) end,
       reconcile_not_before = null
     where connection_id = $1 and stream = any($2::text[])`,
    [connectionId, streamsOf(resource), began, proved, answered],
  );
}
