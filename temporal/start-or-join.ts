import type { Client } from '@temporalio/client';
import type { StartRequest } from './start-request.ts';

/** Starts a run, or joins the one that is running under this ID, which is left alone. Returns the execution. */
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
