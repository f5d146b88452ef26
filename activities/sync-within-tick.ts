import { cancellationDetails } from '@temporalio/activity';
import { nameOf } from '../errors/name-of.ts';
import { eventsStream } from '../resources/index.ts';
import { isDatabaseAway } from '../warehouse/session/is-database-away.ts';
import { beginTickRun, readTickRun, type TickRun } from '../warehouse/runs/begin-tick-run.ts';
import { finishRun } from '../warehouse/runs/finish-run.ts';
import type { FinishedRun, StreamOutcome } from '../warehouse/runs/judge-run.ts';
import { streamsToRead } from './begin-run.ts';
import type { Dependencies } from './dependencies.ts';
import { heartbeating } from './heartbeating.ts';
import { judgeSync } from './judge-sync.ts';
import { readRunAccess } from './read-chunk.ts';
import { readPage } from './read-page.ts';
import { runOfActivity } from './run-of-activity.ts';

/** The result of a sync that a tick ran itself. */
export type TickSync =
  | { readonly state: 'ended'; readonly runId: string; readonly status: FinishedRun['status'] }
  /** It cannot end here: its workflow has to continue it. */
  | { readonly state: 'unfinished'; readonly runId: string; readonly why: string }
  | Extract<TickRun, { state: 'busy' | 'adopted' }>;

/** The run of a sync within a tick. Its ID is that of the tick's execution, the same for all attempts. */
export interface TickSyncInput {
  runId: string;
  connection: string;
  reason: string;
  /** Empty: all. */
  resources: readonly string[];
}

/**
 * Runs the sync of a connection within the tick, as long as every list is one page and the service answers well: most syncs find few changes,
 * and a workflow would cost many times their work. Lists are read one after the other, because a slot of the queue stands for one stream at a
 * time, and the events last, as in `workflows/read-streams.ts`. Waits, retries and judgments are left to the sync's workflow. Throws only
 * errors that would stop the workflow too: Postgres is away, or a cancellation.
 */
export function syncWithinTick(dependencies: Dependencies, input: TickSyncInput): Promise<TickSync> {
  return heartbeating(
    async (cancelled) => {
      const { warehouse } = dependencies;
      const run = runOfActivity(input);
      const begun = await beginTickRun(warehouse, run);
      if (begun.state === 'ended') return endedBefore(dependencies, input, begun);
      if (begun.state !== 'open') return begun;
      // `catch` reads it, which keeps it referenced: on Node 20, AbortSignal.any alone would leave it to garbage collection.
      const deadline = AbortSignal.timeout(deadlineMilliseconds);
      try {
        const signal = AbortSignal.any([cancelled, deadline]);
        const outcomes = await readLists(dependencies, input, signal);
        return typeof outcomes === 'string'
          ? await unfinished(dependencies, input, outcomes)
          : await finish(dependencies, input, outcomes);
      } catch (error) {
        if (isDatabaseAway(error)) throw error;
        const why = deadline.aborted ? 'slow answers' : nameOf(error);
        if (!cancelled.aborted) return await unfinished(dependencies, input, why);
        // Not when the worker stops: then another attempt continues.
        if (cancellationDetails()?.cancelRequested === true)
          await finishRun(warehouse, { ...input, outcomes: [], cancelled: true, heldBy: run.workflowId });
        throw error;
      }
    },
    () => undefined,
    rareBeatMilliseconds,
  );
}

/** Each heartbeat is an action in Temporal. Two of them fit into the timeout. */
const rareBeatMilliseconds = 8_000;
/** One response may take two minutes; only the workflow's activities have the time for it. */
const deadlineMilliseconds = 45_000;

/** Returns the results of the streams, or a text that says why they cannot be read to their end here. */
async function readLists(
  dependencies: Dependencies,
  input: TickSyncInput,
  signal: AbortSignal,
): Promise<StreamOutcome[] | string> {
  const outcomes: StreamOutcome[] = [];
  const runAccess = await readRunAccess(dependencies, input);
  for (const stream of streamsToRead(input.resources)) {
    // The events come last, because records of the lists may have been deleted since; they do not name their company, but a list does.
    if (stream === eventsStream && !outcomes.some(({ state }) => state === 'done')) return 'NothingSupported';
    signal.throwIfAborted();
    const run = await readTickRun(dependencies.warehouse, runOfActivity(input));
    if (run?.state !== 'open') return 'AnotherRuns';
    const { state, wait } = await readPage(dependencies, { ...input, stream }, { runAccess, signal });
    if (state !== 'done' && state !== 'unsupported') return wait?.reason ?? 'more pages';
    outcomes.push({ stream, state });
  }
  return outcomes;
}

async function finish(
  { warehouse, schedules }: Dependencies,
  { runId, connection, ...input }: TickSyncInput,
  outcomes: StreamOutcome[],
): Promise<TickSync> {
  const { workflowId: heldBy } = runOfActivity({ runId, connection, ...input });
  // It reads every list itself, so an earlier run is no evidence.
  const ended = { runId, outcomes, cancelled: false, heldBy, firstExecutionRunId: runId };
  const { status } = await finishRun(warehouse, ended);
  await judgeSync({ warehouse, schedules }, { runId, connection, outcomes, status });
  return { state: 'ended', runId, status };
}

/** If another attempt or another sync has the run by now, it continues the run or has ended it: then nothing is to be started. */
async function unfinished({ warehouse }: Dependencies, input: TickSyncInput, why: string): Promise<TickSync> {
  const { runId } = input;
  const run = await readTickRun(warehouse, runOfActivity(input));
  if (run === undefined || run.state === 'open') return { state: 'unfinished', runId, why };
  return run.state === 'ended' ? { ...run, runId } : run;
}

/** The earlier attempt may have died before it had judged the run. */
async function endedBefore(
  dependencies: Dependencies,
  { runId, connection }: TickSyncInput,
  { status }: Extract<TickRun, { state: 'ended' }>,
): Promise<TickSync> {
  await judgeSync(dependencies, { runId, connection, outcomes: [], status });
  return { state: 'ended', runId, status };
}
