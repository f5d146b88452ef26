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
import { runOf } from './run-of.ts';

/** How a sync fared that a tick ran itself. */
export type TickSync =
  | { readonly state: 'ended'; readonly runId: string; readonly status: FinishedRun['status'] }
  /** It cannot end here: its workflow has to go on with it. */
  | { readonly state: 'unfinished'; readonly runId: string; readonly why: string }
  | Extract<TickRun, { state: 'busy' | 'adopted' }>;

/** The run of a sync within a tick: it bears the name of the tick's execution, the same for all attempts. */
export interface TickSyncInput {
  runId: string;
  connection: string;
  reason: string;
  /** All, when empty. */
  resources: readonly string[];
}

/**
 * Runs the sync of a connection here and now, as long as every list is one page and the service answers well: most syncs find little
 * that is new, and a workflow of their own would cost many times what they do. Lists are read one after the other, for a slot of the
 * queue stands for one stream at a time, and the events last, as in `workflows/read-streams.ts`. Whatever is to be waited for, tried again
 * or judged is left to the workflow of the sync. Throws only what keeps anybody from going on: a Postgres that is away, or a cancellation.
 */
export function syncWithinTick(dependencies: Dependencies, input: TickSyncInput): Promise<TickSync> {
  return heartbeating(
    async (cancelled) => {
      const { warehouse } = dependencies;
      const run = runOf(input);
      const begun = await beginTickRun(warehouse, run);
      if (begun.state === 'ended') return endedBefore(dependencies, input, begun);
      if (begun.state !== 'open') return begun;
      // `catch` reads it, which keeps it: AbortSignal.any alone would leave it to garbage collection on Node 20.
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
        // Not when the worker is stopped: then another attempt goes on.
        if (cancellationDetails()?.cancelRequested === true)
          await finishRun(warehouse, { ...input, outcomes: [], cancelled: true, heldBy: run.workflowId });
        throw error;
      }
    },
    () => undefined,
    rareBeatMilliseconds,
  );
}

/** Each beat is an action of Temporal's. Two of them fit into the timeout. */
const rareBeatMilliseconds = 8_000;
/** One answer may take two minutes, for which an attempt of the workflow's activities has the time. */
const deadlineMilliseconds = 45_000;

/** How the streams ended; a text that says why, where they cannot be read to their end here. */
async function readLists(
  dependencies: Dependencies,
  input: TickSyncInput,
  signal: AbortSignal,
): Promise<StreamOutcome[] | string> {
  const outcomes: StreamOutcome[] = [];
  const runAccess = await readRunAccess(dependencies, input);
  for (const stream of streamsToRead(input.resources)) {
    // What the lists brought may have been deleted since, so the events are the last; they do not say whose they are, but a list does.
    if (stream === eventsStream && !outcomes.some(({ state }) => state === 'done')) return 'NothingSupported';
    signal.throwIfAborted();
    const run = await readTickRun(dependencies.warehouse, runOf(input));
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
  const { workflowId: heldBy } = runOf({ runId, connection, ...input });
  // It reads every list itself, so a run before it is no evidence.
  const ended = { runId, outcomes, cancelled: false, heldBy, firstExecutionRunId: runId };
  const { status } = await finishRun(warehouse, ended);
  await judgeSync({ warehouse, schedules }, { runId, connection, outcomes, status });
  return { state: 'ended', runId, status };
}

/** Whoever else has the run by now, another attempt or another sync, goes on with it or has ended it: then nobody is to be started for it. */
async function unfinished({ warehouse }: Dependencies, input: TickSyncInput, why: string): Promise<TickSync> {
  const { runId } = input;
  const run = await readTickRun(warehouse, runOf(input));
  if (run === undefined || run.state === 'open') return { state: 'unfinished', runId, why };
  return run.state === 'ended' ? { ...run, runId } : run;
}

/** The attempt before this one may have died before it had judged the run. */
async function endedBefore(
  dependencies: Dependencies,
  { runId, connection }: TickSyncInput,
  { status }: Extract<TickRun, { state: 'ended' }>,
): Promise<TickSync> {
  await judgeSync(dependencies, { runId, connection, outcomes: [], status });
  return { state: 'ended', runId, status };
}
