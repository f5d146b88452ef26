import {
  ApplicationFailure,
  CancellationScope,
  continueAsNew,
  isCancellation,
  workflowInfo,
} from '@temporalio/workflow';
import { failureOf } from './failure-of.ts';
import { bookkeeping } from './proxies.ts';
import { trackProgress, type Progress } from './progress.ts';
import { readStreams, type Run } from './read-streams.ts';

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

export interface SyncConnectionResult {
  runId: string;
  status: 'succeeded' | 'partial';
}

/**
 * Brings every stream of a connection up to date. What is left to do is decided by the passes in Postgres, never by this
 * history: reset it, terminate and start it again, start it twice, and the tables end the same.
 */
export async function syncConnection(input: SyncConnectionInput): Promise<SyncConnectionResult> {
  const { connection, resources = [], reason = 'Temporal' } = input;
  const runId = runIdOf(input);
  const run = { runId, connection, reason };
  const { streams, searchable } = await bookkeeping.beginRun({ ...run, resources });
  const progress = trackProgress({ connection, searchable, streams });
  const result = await readAndFinish(run, streams, progress);
  return result === 'unfinished'
    ? continueAsNew<typeof syncConnection>({ ...input, continues: { runId } })
    : result;
}

async function readAndFinish(
  run: Run,
  streams: readonly string[],
  progress: Progress,
): Promise<SyncConnectionResult | 'unfinished'> {
  try {
    const { outcomes, unfinished } = await readStreams(run, streams, progress);
    if (unfinished) return 'unfinished';
    const { status, failure } = await bookkeeping.finishRun({ ...run, outcomes, cancelled: false });
    const failed = outcomes.find(({ state }) => state === 'failed');
    if (status === 'failed' || failed !== undefined) {
      throw ApplicationFailure.nonRetryable(
        `${run.connection}: ${failure ?? 'the run failed'}`,
        failed?.failureType ?? 'NothingSupported',
      );
    }
    progress.finished(status);
    return { runId: run.runId, status: status === 'succeeded' ? 'succeeded' : 'partial' };
  } catch (error) {
    if (isCancellation(error)) {
      await CancellationScope.nonCancellable(() =>
        bookkeeping.finishRun({ ...run, outcomes: [], cancelled: true }),
      );
    } else {
      progress.failed(failureOf(error).type);
    }
    throw error;
  }
}

/** A continuation goes on with its run. A copy of its input, started by hand, is a run of its own. */
function runIdOf({ continues }: SyncConnectionInput): string {
  const { runId, continuedFromExecutionRunId } = workflowInfo();
  return continuedFromExecutionRunId === undefined ? runId : (continues?.runId ?? runId);
}
