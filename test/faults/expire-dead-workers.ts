import { ServiceError, WorkflowNotFoundError } from '@temporalio/client';
import type { Installation } from '../support/installation.ts';

type TemporalNamespace = Pick<Installation, 'client' | 'namespace'>;

/**
 * Does at once what Temporal does by itself some 20 s later: fails the activities of dead processes, gives their workflows to other
 * workers, and starts pending attempts.
 */
export async function expireDeadWorkers(temporal: TemporalNamespace, pids: readonly number[]): Promise<void> {
  try {
    for await (const execution of temporal.client.workflow.list({ query: 'ExecutionStatus="Running"' }))
      await expireInWorkflow(temporal, execution, pids);
  } catch (error) {
    // Temporal is down just now, or the workflow is over. The next call tries again.
    if (!(error instanceof ServiceError || error instanceof WorkflowNotFoundError || isRefusal(error)))
      throw error;
  }
}

async function expireInWorkflow(
  { client, namespace }: TemporalNamespace,
  { workflowId, runId }: { workflowId: string; runId: string },
  pids: readonly number[],
): Promise<void> {
  const { raw } = await client.workflow.getHandle(workflowId, runId).describe();
  const execution = { workflowId, runId };
  for (const activity of raw.pendingActivities ?? []) {
    const id = activity.activityId ?? '';
    const isDead = pids.some((pid) => activity.lastWorkerIdentity?.startsWith(`${pid}@`) === true);
    if (Number(activity.state) === started && isDead)
      await client.activity.fail({ ...execution, activityId: id }, new Error('Its worker is dead.'));
    if (Number(activity.state) === scheduled && (activity.attempt ?? 1) > 1)
      await client.workflowService.resetActivity({ namespace, execution, id });
  }
  if (raw.pendingWorkflowTask) await client.workflowService.resetStickyTaskQueue({ namespace, execution });
}

/** States of an activity, in Temporal's numbering. */
const [scheduled, started] = [1, 2];

/** Whether Temporal refused a call because it came too late. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'code' in error;
}
