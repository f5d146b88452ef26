import { ServiceError, WorkflowNotFoundError } from '@temporalio/client';
import type { Installation } from '../support/installation.ts';

type Place = Pick<Installation, 'client' | 'namespace'>;

/**
 * Does at once what Temporal does by itself some 20 s later: the activities that dead processes had in hand fail, other workers
 * have their workflows, and what waits for its next attempt has it now.
 */
export async function forgetTheDead(place: Place, pids: readonly number[]): Promise<void> {
  try {
    for await (const execution of place.client.workflow.list({ query: 'ExecutionStatus="Running"' }))
      await hurry(place, execution, pids);
  } catch (error) {
    // Temporal is away just now, or the workflow is over: there is a next time.
    if (!(error instanceof ServiceError || error instanceof WorkflowNotFoundError || isRefusal(error)))
      throw error;
  }
}

async function hurry(
  { client, namespace }: Place,
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

/** States of an activity, as Temporal numbers them. */
const [scheduled, started] = [1, 2];

/** An answer of Temporal to a question that came too late. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && 'code' in error;
}
