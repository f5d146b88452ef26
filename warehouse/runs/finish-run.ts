import { sql } from 'kysely';
import { streamNamed } from '../../resources/index.ts';
import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { areUnsupported, judgeUnsupported } from '../passes/judge-unsupported.ts';
import { CommitsLost } from '../errors.ts';
import { putOffUnanswered } from '../reconcile/put-off-unanswered.ts';
import type { RunKind } from '../tables/runs.ts';
import { countNames, type CountsToAdd } from './add-to-run.ts';
import { judgeRun, type CountedStream, type FinishedRun, type StreamOutcome } from './judge-run.ts';
import { notRead, provedOnes, readBefore, readToEnd } from './what-was-read.ts';

/**
 * Closes the run: `succeeded` only if every stream is complete and left nothing in quarantine, `failed` if no stream got through, `partial` in
 * between. A run in which no list at all is supported has read nothing, so it failed, unless other lists of the connection answer. A reconcile has
 * failed for a stream that it could not list although the warehouse holds records of it.
 */
export async function finishRun(
  { pool }: Warehouse,
  input: {
    runId: string;
    /** Absent: a sync. */
    kind?: RunKind;
    outcomes: readonly StreamOutcome[];
    cancelled: boolean;
    /**
     * The first execution of a run that was reset: streams that the run has not read itself must have been read by it or a later one. Absent: by any
     * run of the workflow.
     */
    firstExecutionRunId?: string;
    /** Close the run only while it is open and belongs to this workflow; otherwise RunLeft is thrown. */
    heldBy?: string;
    /** The counts of the commits of a command's run, by stream; throws CommitsLost if some of them are missing. */
    counted?: ReadonlyMap<string, CountsToAdd>;
  },
): Promise<FinishedRun> {
  const { runId, kind = 'sync', cancelled, firstExecutionRunId } = input;
  return inTransaction(pool, async ({ db }) => {
    await requireHeld(db, input);
    await requireCounted(db, input);
    const made = kind === 'reconcile' ? await provedOnes(db, input) : await readToEnd(db, input);
    const outcomes = (await isOnItsTimeline(db, runId)) ? made : made.map(asLost);
    const done = outcomes.filter(({ state }) => state === 'done').map(({ stream }) => stream);
    const counted = await closeStreams(db, { runId, kind, outcomes, done });
    await judgeUnsupported(db, runId);
    if (kind === 'reconcile') await putOffUnanswered(db, runId);
    const unread = done.filter((stream) => !counted.some((row) => row.stream === stream));
    const before = await readBefore(db, { runId, streams: unread, firstExecutionRunId });
    const known = [...counted, ...before];
    const lost = unread.filter((stream) => !before.some((row) => row.stream === stream));
    const told =
      lost.length > 0 && (await readsLists(db, runId))
        ? outcomes.map((outcome) => (lost.includes(outcome.stream) ? notRead(outcome.stream) : outcome))
        : outcomes;
    const notOffered = await areUnsupported(db, { runId, outcomes: told });
    const finished = cancelled
      ? ({ status: 'cancelled', failure: null } as const)
      : judgeRun(told, known, { notOffered });
    await db
      .updateTable('sync.runs')
      .set({ ...finished, finished_at: sql<Date>`clock_timestamp()` })
      .where('run_id', '=', runId)
      .execute();
    return finished;
  });
}

/** Another process continues the run, or has ended it. */
class RunLeft extends Error {
  override readonly name = 'RunLeft';
  readonly handling = 'retry';

  constructor() {
    super('The run is no longer that of the tick which began it.');
  }
}

async function requireHeld(
  db: Warehouse['db'],
  { runId, heldBy }: { runId: string; heldBy?: string },
): Promise<void> {
  if (heldBy === undefined) return;
  const held = await db
    .selectFrom('sync.runs')
    .select('run_id')
    .where('run_id', '=', runId)
    .where('workflow_id', '=', heldBy)
    .where('status', '=', 'running')
    .forUpdate()
    .executeTakeFirst();
  if (held === undefined) throw new RunLeft();
}

/** Throws CommitsLost if the database has lost something that the command remembers doing. */
async function requireCounted(
  db: Warehouse['db'],
  { runId, counted }: { runId: string; counted?: ReadonlyMap<string, CountsToAdd> },
): Promise<void> {
  if (counted === undefined || counted.size === 0) return;
  const rows = await db
    .selectFrom('sync.run_streams')
    .select(['stream', ...countNames])
    .where('run_id', '=', runId)
    .execute();
  for (const [stream, counts] of counted) {
    const row = rows.find((one) => one.stream === stream);
    if (countNames.some((name) => (counts[name] ?? 0) > (row?.[name] ?? 0)))
      throw new CommitsLost('this run');
  }
}

/** Writes how each stream ended: one that is neither failed nor done was cancelled. Returns the rows of all streams that the run has read. */
async function closeStreams(
  db: Warehouse['db'],
  run: { runId: string; kind: RunKind; outcomes: readonly StreamOutcome[]; done: readonly string[] },
): Promise<CountedStream[]> {
  const { runId, kind, outcomes, done } = run;
  const now = sql<Date>`clock_timestamp()`;
  for (const { stream, failureType, failure } of outcomes.filter(({ state }) => state === 'failed')) {
    await db
      .updateTable('sync.run_streams')
      .set({
        status: 'failed',
        failure_type: failureType ?? null,
        failure: failure ?? null,
        finished_at: now,
      })
      .where('run_id', '=', runId)
      .where('stream', '=', stream)
      .execute();
  }
  if (done.length > 0) {
    // A sync closes its streams page by page; for other runs only the workflow knows when a stream is done.
    await db
      .updateTable('sync.run_streams')
      .set((eb) => ({
        status: eb
          .case()
          .when('quarantined', '>', 0)
          .then('partial' as const)
          .else('succeeded' as const)
          .end(),
        finished_at: now,
      }))
      .where('run_id', '=', runId)
      .where('stream', 'in', done)
      .where('status', '=', 'running')
      .execute();
  }
  await db
    .updateTable('sync.run_streams')
    .set({ status: 'cancelled', finished_at: now })
    .where('run_id', '=', runId)
    .where('status', '=', 'running')
    .execute();
  if (kind === 'backfill') await noteLeftByOthers(db, { runId, streams: done });
  return db
    .selectFrom('sync.run_streams')
    .select(['stream', 'status', 'failure_type', 'failure'])
    .where('run_id', '=', runId)
    .execute();
}

/** Whether this is the server that the run began on; only a sync may end on another one. */
async function isOnItsTimeline(db: Warehouse['db'], runId: string): Promise<boolean> {
  const elsewhere = await db
    .selectFrom('sync.runs')
    .select('run_id')
    .where('run_id', '=', runId)
    .where('kind', '<>', 'sync')
    .where(sql<boolean>`timeline <> sync.timeline()`)
    .executeTakeFirst();
  return elsewhere === undefined;
}

/** Marks a stream that is done as failed: what was done before a failover may be lost, so it does not count. */
function asLost(outcome: StreamOutcome): StreamOutcome {
  if (outcome.state !== 'done') return outcome;
  const { name, message } = new CommitsLost('this run');
  return { stream: outcome.stream, state: 'failed', failureType: name, failure: message };
}

/** Marks a stream as partial if an earlier run of the same backfill put records of its windows in quarantine that are still open. */
async function noteLeftByOthers(
  db: Warehouse['db'],
  { runId, streams }: { runId: string; streams: readonly string[] },
): Promise<void> {
  if (streams.length === 0) return;
  // An entry names the list that showed its record last, which may be another one of the resource.
  const resources = streams.map((stream) => streamNamed(stream).resource.name);
  await db
    .updateTable('sync.run_streams as own')
    .set({ status: 'partial' })
    .where('own.run_id', '=', runId)
    .where('own.stream', 'in', streams)
    .where('own.status', '=', 'succeeded')
    .where(
      sql<boolean>`exists (
        select from sync.runs mine
        join sync.runs earlier using (connection_id, kind, workflow_id)
        join sync.run_streams s on s.run_id = earlier.run_id and s.stream = own.stream
        where mine.run_id = own.run_id and earlier.run_id <> mine.run_id and s.quarantined > 0 and exists (
          select from sync.quarantine q
          join unnest(${sql.val(streams)}::text[], ${sql.val(resources)}::text[]) as read (stream, resource)
            on read.resource = q.resource
          where q.connection_id = mine.connection_id and read.stream = own.stream and q.status = 'open'
            -- A run may begin in the future, after a clock that was ahead.
            and (q.last_seen_at >= earlier.started_at or q.run_id = earlier.run_id)
        )
      )`,
    )
    .execute();
}

/** Whether the run reads lists. Other runs leave rows only for streams that they met. */
async function readsLists(db: Warehouse['db'], runId: string): Promise<boolean> {
  const run = await db
    .selectFrom('sync.runs')
    .select('run_id')
    .where('run_id', '=', runId)
    .where('kind', 'in', ['sync', 'reconcile', 'backfill'])
    .where('workflow_id', '<>', '')
    .executeTakeFirst();
  return run !== undefined;
}
