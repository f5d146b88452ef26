import { activityInfo } from '@temporalio/activity';
import { checkedRun } from './checked-run.ts';
import type { RunToBegin } from '../warehouse/runs/begin-run.ts';
import type { RunKind } from '../warehouse/tables/runs.ts';

/** The run that the current activity works for. Throws UnknownConnection. */
export function runOf(input: {
  runId: string;
  connection: string;
  reason: string;
  /** A sync, when absent. */
  kind?: RunKind;
}): RunToBegin {
  const { workflowExecution } = activityInfo();
  const { connection, reason } = checkedRun(input);
  return {
    runId: input.runId,
    connectionId: connection,
    kind: input.kind ?? 'sync',
    workflowId: workflowExecution?.workflowId ?? '',
    temporalRunId: workflowExecution?.runId ?? '',
    reason,
  };
}
