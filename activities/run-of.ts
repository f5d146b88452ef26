import { activityInfo } from '@temporalio/activity';
import { checkedRun } from './checked-run.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import type { RunToBegin } from '../warehouse/runs/begin-run.ts';
import { runOfExecution } from '../warehouse/runs/run-of-execution.ts';
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

/** The input of an activity that reads, for the run that its workflow works for now: see `runOfExecution`. */
export async function forRunOfExecution<Input extends { runId: string }>(
  warehouse: Pick<Warehouse, 'db'>,
  input: Input,
): Promise<Input> {
  const temporalRunId = activityInfo().workflowExecution?.runId ?? '';
  return { ...input, runId: await runOfExecution(warehouse, { runId: input.runId, temporalRunId }) };
}
