import { activityInfo } from '@temporalio/activity';
import type { RunToBegin } from '../warehouse/runs/begin-run.ts';
import type { RunKind } from '../warehouse/tables/runs.ts';

/** The run that the current activity works for. */
export function runOf(input: {
  runId: string;
  connection: string;
  reason: string;
  /** A sync, when absent. */
  kind?: RunKind;
}): RunToBegin {
  const { workflowExecution } = activityInfo();
  return {
    runId: input.runId,
    connectionId: input.connection,
    kind: input.kind ?? 'sync',
    workflowId: workflowExecution?.workflowId ?? '',
    temporalRunId: workflowExecution?.runId ?? '',
    reason: input.reason,
  };
}
