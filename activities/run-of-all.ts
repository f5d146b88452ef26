import type { RunOfAll } from '../warehouse/runs/begin-run-of-all.ts';
import { checkedReason } from './checked-run.ts';
import { executionNow } from './execution-now.ts';

/** The run that the current activity works for, when it is one for no single connection. */
export function runOfAll(run: Pick<RunOfAll, 'runId' | 'kind' | 'target' | 'reason'>): RunOfAll {
  const { workflowId, runId: temporalRunId } = executionNow();
  return {
    ...run,
    reason: checkedReason(run.reason),
    workflowId,
    temporalRunId,
  };
}
