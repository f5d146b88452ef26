import type { RunOfAll } from '../warehouse/runs/begin-run-of-all.ts';
import { checkedReason } from './checked-run.ts';
import { executionNow } from './execution-now.ts';

/** The run of the current activity, if the run is for no single connection. */
export function runOfAll(run: Pick<RunOfAll, 'runId' | 'kind' | 'target' | 'reason'>): RunOfAll {
  const { workflowId, runId: temporalRunId } = executionNow();
  return {
    ...run,
    reason: checkedReason(run.reason),
    workflowId,
    temporalRunId,
  };
}
