import {
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  patched,
  workflowInfo,
} from '@temporalio/workflow';
import type { StreamOutcome } from '../activities/finish-run.ts';
import { failureOf } from './failure-of.ts';
import { bookkeeping } from './proxies.ts';
import type { Progress } from './progress.ts';
import type { Run } from './read-streams.ts';

export interface RunResult {
  runId: string;
  status: 'succeeded' | 'partial';
}

/**
 * Does the work of a run and closes its row with the result, however it ends. Returns `unfinished` if the history has grown long: the row then
 * stays open for the next execution. `goesOnWith`: the run that was begun before this execution, by a schedule's tick or by the execution that
 * it continues.
 */
export async function runToEnd(
  run: Run,
  progress: Progress,
  work: () => Promise<{ outcomes: StreamOutcome[]; unfinished: boolean }>,
  { goesOnWith }: { goesOnWith?: string | undefined } = {},
): Promise<RunResult | 'unfinished'> {
  try {
    const { outcomes, unfinished } = await work();
    if (unfinished) return 'unfinished';
    // A reset keeps this ID. A continued execution has an ID of its own.
    const { originalExecutionRunId } = workflowInfo();
    const firstExecutionRunId = goesOnWith ?? originalExecutionRunId;
    const ended = { ...run, outcomes, firstExecutionRunId, cancelled: false };
    const { status, failure } = await bookkeeping.finishRun(ended);
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

/**
 * A continuation continues its run. A copy of its input, started by hand, is a run of its own, and so is a reset of it: the run may be
 * long over.
 */
export function currentRunId({ continues }: { continues?: { runId: string } }): string {
  const { runId, continuedFromExecutionRunId } = workflowInfo();
  const goesOn = continuedFromExecutionRunId !== undefined && !isReset();
  return goesOn ? (continues?.runId ?? runId) : runId;
}

/**
 * Returns the input from the previous execution of the chain. After a reset, only if the history has already used it: a reset to the first task
 * begins anew.
 */
export function continuationOf<Continues>({ continues }: { continues?: Continues }): Continues | undefined {
  if (continues === undefined || workflowInfo().continuedFromExecutionRunId === undefined) return undefined;
  return isReset() && patched('reset-begins-anew') ? undefined : continues;
}

function isReset(): boolean {
  const { runId, originalExecutionRunId } = workflowInfo();
  return originalExecutionRunId !== runId;
}
