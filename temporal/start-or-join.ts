import type { Client } from '@temporalio/client';
import type { StartRequest } from './start-request.ts';

/** Starts a run, unless one runs under its name: that one is left alone. Returns which it is. */
export async function startOrJoin(
  temporal: Client,
  { workflowType, options }: StartRequest,
): Promise<{ workflowId: string; runId: string }> {
  const handle = await temporal.workflow.start(workflowType, {
    ...options,
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
  return { workflowId: options.workflowId, runId: handle.firstExecutionRunId };
}
