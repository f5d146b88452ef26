import { activityInfo } from '@temporalio/activity';
import type { RunToBegin } from '../warehouse/runs/begin-run.ts';

/** The run that the current activity works for. */
export function runOf(input: { runId: string; connection: string; reason: string }): RunToBegin {
  const { workflowExecution } = activityInfo();
  return {
    runId: input.runId,
    connectionId: input.connection,
    kind: 'sync',
    workflowId: workflowExecution?.workflowId ?? '',
    temporalRunId: workflowExecution?.runId ?? '',
    reason: input.reason,
  };
}
