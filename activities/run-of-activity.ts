import type { Warehouse } from '../warehouse/open-warehouse.ts';
import type { RunToBegin } from '../warehouse/runs/begin-run.ts';
import { runOfExecution } from '../warehouse/runs/run-of-execution.ts';
import type { RunKind } from '../warehouse/tables/runs.ts';
import { checkedRun } from './checked-run.ts';
import { executionNow } from './execution-now.ts';

/** The run of the current activity. Throws UnknownConnection. */
export function runOfActivity(input: {
  runId: string;
  connection: string;
  reason: string;
  /** Absent: a sync. */
  kind?: RunKind;
}): RunToBegin {
  const { workflowId, runId: temporalRunId } = executionNow();
  const { connection, reason } = checkedRun(input);
  return {
    runId: input.runId,
    connectionId: connection,
    kind: input.kind ?? 'sync',
    workflowId,
    temporalRunId,
    reason,
  };
}

/** The input of an activity that reads, for the run that its workflow serves now: see `runOfExecution`. */
export async function forRunOfExecution<Input extends { runId: string }>(
  warehouse: Pick<Warehouse, 'db'>,
  input: Input,
): Promise<Input> {
  const { runId: temporalRunId } = executionNow();
  return { ...input, runId: await runOfExecution(warehouse, { runId: input.runId, temporalRunId }) };
}
