import { continueAsNew, defineSignal, setHandler } from '@temporalio/workflow';
import { bookkeeping } from './proxies.ts';
import { trackProgress } from './progress.ts';
import { createReader, readStreams } from './read-streams.ts';
import { runIdOf, runToEnd, type RunResult } from './run-to-end.ts';

/** One JSON object, so that "Start Workflow Like This One" in the Web UI repeats it. */
export interface SyncConnectionInput {
  connection: string;
  /** All six, when absent. */
  resources?: string[];
  /** Who or what asked; shown in the run's row. */
  reason?: string;
  /** Set by continue-as-new only. */
  continues?: { runId: string };
}

/** The service says that the data of the connection is ready, or that more of it is. Takes no input. */
export const dataReadySignal = defineSignal('dataReady');

/**
 * Brings every stream of a connection up to date. What is left to do is decided by the passes in Postgres, never by this
 * history: reset it, terminate and start it again, start it twice, and the tables end the same.
 */
export async function syncConnection(input: SyncConnectionInput): Promise<RunResult> {
  const { connection, resources = [], reason = 'Temporal' } = input;
  const runId = runIdOf(input);
  const run = { runId, connection, reason };
  const { streams, searchable } = await bookkeeping.beginRun({ ...run, resources });
  const progress = trackProgress({ connection, searchable, streams });
  const reader = createReader(run, progress);
  setHandler(
    dataReadySignal,
    () => {
      reader.dataReady();
    },
    { description: 'The service has prepared the data: ask again now. Takes no input.' },
  );
  const result = await runToEnd(run, progress, () => readStreams(reader, streams));
  return result === 'unfinished'
    ? continueAsNew<typeof syncConnection>({ ...input, continues: { runId } })
    : result;
}
