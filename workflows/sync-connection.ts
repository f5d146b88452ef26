import {
  continueAsNew,
  defineSignal,
  defineUpdate,
  isCancellation,
  patched,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { signals, updates, type ReadsIn } from '../temporal/messages.ts';
import { trackAnnouncements } from './data-ready.ts';
import { bookkeeping } from './proxies.ts';
import { trackProgress } from './progress.ts';
import { createReader, createReadOn, readStreams } from './read-streams.ts';
import { requireInput } from './require-input.ts';
import { continuationOf, runIdOf, runToEnd, type RunResult } from './run-to-end.ts';

/** One JSON object, so that "Start Workflow Like This One" in the Web UI repeats it. */
export interface SyncConnectionInput {
  connection: string;
  /** All six, when absent. */
  resources?: string[];
  /** Who or what asked; shown in the run's row. */
  reason?: string;
  /**
   * A run that the tick of a schedule has begun and cannot end itself: this execution goes on with it. A copy of this input that is
   * started by hand is a run of its own, and so is a reset.
   */
  adopts?: { runId: string };
  /** Set by continue-as-new only. `readAgain`: the service has announced more data since the run began to read. */
  continues?: { runId: string; readAgain?: boolean };
}

/** The service says that the data of the connection is ready, or that more of it is. Takes no input. */
export const dataReadySignal = defineSignal(signals.dataReady);

/** Which run will have read everything that was true when it was asked for: this one, or the one that follows it at once. */
export interface SyncNowAnswer {
  runId: string;
  readsIn: ReadsIn;
}

/** A person wants what is at the source at this moment. Takes no input; answers at once, and the run goes on. */
export const syncNowUpdate = defineUpdate<SyncNowAnswer>(updates.syncNow);

/**
 * Brings every stream of a connection up to date. What is left to do is decided by the passes in Postgres, never by this
 * history: reset it, terminate and start it again, start it twice, and the tables end the same.
 *
 * When more data was announced, or a person asked for more, than this run can have seen, another run follows at its end, of all streams. Only a person who
 * cancels it has the last word.
 */
export async function syncConnection(input: SyncConnectionInput): Promise<RunResult> {
  requireInput(input);
  const { connection, resources = [], reason = 'Temporal', continues } = input;
  const own = { runId: runIdOf(input), connection, reason };
  const continuation = continuationOf(input);
  const adopts = input.adopts === undefined || continues !== undefined ? {} : { adopts: input.adopts };
  const begun = await bookkeeping.beginRun({ ...own, resources, ...adopts });
  const { streams, searchable, goesOn = false, adopted } = begun;
  const runId = adopted?.by === workflowInfo().runId ? adopted.runId : own.runId;
  const run = { ...own, runId };
  const announcements = trackAnnouncements({
    complete: resources.length === 0,
    begun: goesOn || continuation !== undefined,
  });
  if (continuation?.readAgain === true) announcements.arrived();
  const progress = trackProgress({ connection, searchable, streams });
  const reader = createReader(run, progress, announcements.watch(createReadOn(run)));
  setHandler(
    dataReadySignal,
    () => {
      announcements.arrived();
      reader.dataReady();
    },
    { description: 'The service has prepared the data: ask again now. Takes no input.' },
  );
  setHandler(
    syncNowUpdate,
    (): SyncNowAnswer => {
      announcements.arrived();
      reader.dataReady();
      return { runId, readsIn: announcements.areUnanswered() ? 'the run that follows it' : 'this run' };
    },
    {
      description:
        'Read what is at the source now: in this run, or, where it has begun to read, in another one right after it. Takes no input.',
    },
  );
  const readsAgain = (): boolean => announcements.areUnanswered() && patched('reads-again');
  let result: RunResult | 'unfinished';
  try {
    const work = () => readStreams(reader, streams);
    result = await runToEnd(run, progress, work, { goesOnWith: adopted?.runId ?? continuation?.runId });
  } catch (error) {
    if (isCancellation(error) || !readsAgain()) throw error;
    return continueAsNew<typeof syncConnection>({ connection, reason: 'data ready' });
  }
  if (result === 'unfinished') {
    const readAgain = announcements.areUnanswered();
    return continueAsNew<typeof syncConnection>({ ...input, continues: { runId, readAgain } });
  }
  return readsAgain() ? continueAsNew<typeof syncConnection>({ connection, reason: 'data ready' }) : result;
}
