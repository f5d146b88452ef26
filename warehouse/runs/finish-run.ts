import { sql } from 'kysely';
import { streamNamed } from '../../resources/index.ts';
import { inTransaction } from '../in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { judgeUnsupported } from '../passes/judge-unsupported.ts';
import { unlistedStreams } from '../reconcile/unlisted-streams.ts';
import { CommitsLost } from '../errors.ts';
import type { RunKind, RunStatus } from '../tables/runs.ts';
import { countNames, type CountsToAdd } from './add-to-run.ts';

/** What the workflow knows of a stream at the end of a run. */
export interface StreamOutcome {
  stream: string;
  state: 'done' | 'unsupported' | 'failed';
  failureType?: string;
  failure?: string;
}

export interface FinishedRun {
  status: Exclude<RunStatus, 'running' | 'interrupted' | 'unsupported'>;
  failure: string | null;
}

/**
 * Closes the run with what is true of it: `succeeded` only when every stream is complete and left nothing in quarantine,
 * `failed` when no stream got through, `partial` in between. A run in which no list at all is supported has read nothing, so
 * it failed, and a reconcile has failed on what it could not list although the warehouse holds records of it.
 */
export async function finishRun(
  { pool }: Warehouse,
  input: {
    runId: string;
    /** A sync, when absent. */
    kind?: RunKind;
    outcomes: readonly StreamOutcome[];
    cancelled: boolean;
    /** What a run that was reset has not read itself, it or a later one has. Any run of the workflow, when absent. */
    firstExecutionRunId?: string;
    /** Only while it is open and this workflow's: else RunLeft is thrown. */
    heldBy?: string;
    /** What the commits of a command's run have counted, by stream; throws CommitsLost where some of that is not there. */
    counted?: ReadonlyMap<string, CountsToAdd>;
  },
): Promise<FinishedRun> {
  const { runId, kind = 'sync', cancelled, firstExecutionRunId } = input;
  return inTransaction(pool, async ({ db }) => {
    await requireHeld(db, input);
    await requireCounted(db, input);
    const now = sql<Date>`clock_timestamp()`;
    const made = kind === 'reconcile' ? await provedOnes(db, input) : await readToEnd(db, input);
    const outcomes = (await isOnItsTimeline(db, runId)) ? made : made.map(asLost);
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
    const done = outcomes.filter(({ state }) => state === 'done').map(({ stream }) => stream);
    if (done.length > 0) {
      // A sync closes its streams page by page; of other runs only the workflow knows when a stream is done.
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
    const counted = await db
      .selectFrom('sync.run_streams')
      .select(['stream', 'status', 'failure_type', 'failure'])
      .where('run_id', '=', runId)
      .execute();
    await judgeUnsupported(db, runId);
    const unread = done.filter((stream) => !counted.some((row) => row.stream === stream));
    const before = await readBefore(db, { runId, streams: unread, firstExecutionRunId });
    const known = [...counted, ...before];
    const lost = unread.filter((stream) => !before.some((row) => row.stream === stream));
    const told =
      lost.length > 0 && (await readsLists(db, runId))
        ? outcomes.map((outcome) => (lost.includes(outcome.stream) ? notRead(outcome.stream) : outcome))
        : outcomes;
    const finished = cancelled ? ({ status: 'cancelled', failure: null } as const) : judge(told, known);
    await db
      .updateTable('sync.runs')
      .set({ ...finished, finished_at: now })
      .where('run_id', '=', runId)
      .execute();
    return finished;
  });
}

/** Somebody else goes on with the run, or has ended it. */
export class RunLeft extends Error {
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

/** What a command remembers that it has done may be lost with the database in which it was done. */
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

/** What was done before a failover may be lost, so it does not count. */
function asLost(outcome: StreamOutcome): StreamOutcome {
  if (outcome.state !== 'done') return outcome;
  const { name, message } = new CommitsLost('this run');
  return { stream: outcome.stream, state: 'failed', failureType: name, failure: message };
}

/**
 * A stream of which the run still has a pass was not read to its end, whatever the workflow remembers: the last commits are lost with the
 * database that they were made in.
 */
async function readToEnd(
  db: Warehouse['db'],
  { runId, outcomes }: { runId: string; outcomes: readonly StreamOutcome[] },
): Promise<readonly StreamOutcome[]> {
  const rows = await db
    .selectFrom('sync.run_streams as s')
    .innerJoin('sync.passes as p', (join) =>
      join.onRef('p.run_id', '=', 's.run_id').onRef('p.stream', '=', 's.stream'),
    )
    .distinct()
    .select('s.stream')
    .where('s.run_id', '=', runId)
    .where('s.status', '=', 'running')
    .execute();
  const open = rows.map(({ stream }) => stream);
  return outcomes.map((outcome) =>
    outcome.state === 'done' && open.includes(outcome.stream) ? notRead(outcome.stream) : outcome,
  );
}

/** A reconcile has done with a stream when its proof is written. What the workflow remembers is not enough. */
async function provedOnes(
  db: Warehouse['db'],
  input: { runId: string; outcomes: readonly StreamOutcome[] },
): Promise<readonly StreamOutcome[]> {
  const rows = await db
    .selectFrom('sync.run_streams')
    .select('stream')
    .where('run_id', '=', input.runId)
    .where('status', '=', 'running')
    .where('totals', 'is', null)
    .execute();
  const unproved = rows.map(({ stream }) => stream);
  const outcomes = await withUnlisted(db, input);
  return outcomes.map((outcome) =>
    outcome.state === 'done' && unproved.includes(outcome.stream) ? notProved(outcome.stream) : outcome,
  );
}

/** A list that is not offered is nothing to a sync, but a proof that leaves out what the warehouse holds is none. */
async function withUnlisted(
  db: Warehouse['db'],
  { runId, outcomes }: { runId: string; outcomes: readonly StreamOutcome[] },
): Promise<readonly StreamOutcome[]> {
  const streams = outcomes.filter(({ state }) => state === 'unsupported').map(({ stream }) => stream);
  const unlisted = await unlistedStreams(db, { runId, streams });
  return outcomes.map((outcome) => {
    const { stream } = outcome;
    if (!unlisted.includes(stream)) return outcome;
    const failure =
      `The service does not list ${stream} of this connection (404), although the warehouse holds records of that resource, ` +
      'so nothing was compared. Ask the finance API why the list is gone; it is asked for again once a day.';
    return { stream, state: 'failed', failureType: 'NotListed', failure };
  });
}

/**
 * A reset run has rows only for the streams it read itself. How the others ended stands with the run that read them: none from before the
 * execution that was reset, for rows that a restored database has lost are not read by the one before.
 */
async function readBefore(
  db: Warehouse['db'],
  input: { runId: string; streams: readonly string[]; firstExecutionRunId: string | undefined },
): Promise<CountedStream[]> {
  const { runId, streams, firstExecutionRunId } = input;
  if (streams.length === 0) return [];
  const first = sql<Date>`(
    select min(first.started_at) from sync.runs first
    where first.workflow_id = reset.workflow_id and ${firstExecutionRunId ?? null}::text in (first.run_id, first.temporal_run_id)
  )`;
  const rows = await db
    .selectFrom('sync.runs as reset')
    .innerJoin('sync.runs as run', (join) =>
      join
        .onRef('run.connection_id', '=', 'reset.connection_id')
        .onRef('run.kind', '=', 'reset.kind')
        .onRef('run.workflow_id', '=', 'reset.workflow_id'),
    )
    .innerJoin('sync.run_streams as read', 'read.run_id', 'run.run_id')
    .distinctOn('read.stream')
    .select(['read.stream', 'read.status', 'read.quarantined', 'read.failure_type', 'read.failure'])
    .where('reset.run_id', '=', runId)
    .where('read.stream', 'in', streams)
    .where((eb) => eb.or([eb.lit(firstExecutionRunId === undefined), eb('run.started_at', '>=', first)]))
    // The windows of a backfill stay done, however its run ended. A sync has closed a stream that it has read, and a reconcile has proved it.
    .where((eb) =>
      eb.or([
        eb('run.kind', '=', 'backfill'),
        eb.and([
          eb('read.status', 'in', ['succeeded', 'partial']),
          eb.or([eb('run.kind', '<>', 'reconcile'), eb('read.totals', 'is not', null)]),
        ]),
      ]),
    )
    .orderBy('read.stream')
    // The windows of a backfill may have been read by several runs: what any of them left in quarantine counts.
    .orderBy(sql`run.kind = 'backfill' and read.quarantined > 0`, 'desc')
    // Of a run that was ended before, a stream may be done whose row says that it was interrupted.
    .orderBy(sql`read.status in ('succeeded', 'partial')`, 'desc')
    .orderBy('run.started_at', 'desc')
    .execute();
  return rows.map(({ quarantined, ...row }) => {
    if (row.status === 'partial') return row;
    const status = quarantined > 0 ? 'partial' : 'succeeded';
    return { stream: row.stream, status, failure_type: null, failure: null };
  });
}

/** Of a stream of which an earlier run of the backfill has read windows, what that one left in quarantine, and still waits, counts. */
async function noteLeftByOthers(
  db: Warehouse['db'],
  { runId, streams }: { runId: string; streams: readonly string[] },
): Promise<void> {
  if (streams.length === 0) return;
  // An entry has the list that showed its record last, which may be another one of the resource.
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

/** Other runs leave rows only of what they met. */
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

/** The workflow remembers that it was read, and the warehouse does not: rows were lost, with a restored database or a removal. */
function notRead(stream: string): StreamOutcome {
  const failure = `That ${stream} was read is not written in the warehouse, so it does not count. Run it again.`;
  return { stream, state: 'failed', failureType: 'NotRead', failure };
}

/** Its listing is gone, and no proof of it is there: an attempt of another run took it. */
function notProved(stream: string): StreamOutcome {
  const failure = `What was listed of ${stream} is gone before it was compared, so nothing is proved. Run the reconcile again.`;
  return { stream, state: 'failed', failureType: 'NotProved', failure };
}

function judge(outcomes: readonly StreamOutcome[], known: readonly CountedStream[]): FinishedRun {
  const statuses = outcomes.map(({ stream, state }) =>
    state === 'done' ? (known.find((row) => row.stream === stream)?.status ?? 'succeeded') : state,
  );
  const failure = sentenceOf([
    ...outcomes,
    ...known.filter(({ status }) => status === 'partial').map(asOutcome),
  ]);
  if (statuses.every((status) => status === 'unsupported')) {
    return {
      status: 'failed',
      failure:
        'The service lists none of the resources for this connection. Check DAYBOOK_API_URL and the platform.',
    };
  }
  // Whatever got through before: the run was stopped.
  const stopped = outcomes.some(({ failureType }) => failureType === 'IdentityChanged');
  if (stopped || !statuses.some((status) => status === 'succeeded' || status === 'partial'))
    return { status: 'failed', failure };
  const complete = statuses.every((status) => status === 'succeeded' || status === 'unsupported');
  return { status: complete ? 'succeeded' : 'partial', failure };
}

interface CountedStream {
  stream: string;
  status: string;
  failure_type: string | null;
  failure: string | null;
}

/** A stream that got through may still have something to say. */
function asOutcome({ stream, failure_type, failure }: CountedStream): StreamOutcome {
  return failure === null
    ? { stream, state: 'done' }
    : { stream, state: 'failed', failureType: failure_type ?? '', failure };
}

/** One sentence for each type of failure: what refuses one stream often refuses them all. */
function sentenceOf(outcomes: readonly StreamOutcome[]): string | null {
  const failed = outcomes.filter(({ state }) => state === 'failed');
  const types = [...new Set(failed.map(({ failureType }) => failureType))];
  const sentences = types.map((type) => {
    const [first, ...others] = failed.filter(({ failureType }) => failureType === type);
    const same = others.length === 0 ? '' : ` The same for ${others.map(({ stream }) => stream).join(', ')}.`;
    return `${first?.failure ?? ''}${same}`;
  });
  return sentences.length === 0 ? null : sentences.join(' ');
}
