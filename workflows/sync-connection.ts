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
import { continuationOf, currentRunId, runToEnd, type RunResult } from './run-to-end.ts';

/** One JSON object, so that "Start Workflow Like This One" in the Web UI repeats it. */
export interface SyncConnectionInput {
  connection: string;
  /** Absent: all six. */
  resources?: string[];
  /** Who or what asked; shown in the run's row. */
  reason?: string;
  /**
   * A run that a schedule's tick has begun and cannot end itself: this execution continues it. A copy of this input that is started by hand is a
   * run of its own, and so is a reset.
   */
  adopts?: { runId: string };
  /** Set by continue-as-new only. `readAgain`: the service has announced more data since the run began to read. */
  continues?: { runId: string; readAgain?: boolean };
}

/** The service announces that the connection's data, or more of it, is ready. Takes no input. */
export const dataReadySignal = defineSignal(signals.dataReady);

/** The run that will have read the source's state as of the request: this one, or the one that follows it at once. */
export interface SyncNowAnswer {
  runId: string;
  readsIn: ReadsIn;
}

/** A person wants the source's current state. Takes no input; answers at once, and the run continues. */
export const syncNowUpdate = defineUpdate<SyncNowAnswer>(updates.syncNow);

/**
 * Brings every stream of a connection up to date. The passes in Postgres determine the remaining work, never this history: reset it, terminate
 * and start it again, start it twice, and the tables end up the same.
 *
 * If more data was announced, or requested by a person, than this run can have seen, another run of all streams follows it, unless a person
 * cancels it.
 */
export async function syncConnection(input: SyncConnectionInput): Promise<RunResult> {
  requireInput(input);
  const { connection, resources = [], reason = 'Temporal', continues } = input;
  const own = { runId: currentRunId(input), connection, reason };
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
