import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { workflowIds } from '../temporal/workflow-ids.ts';

/**
 * Terminates what runs for a connection that was removed: nothing of it can land any more, and who adds another one under the name is not
 * to join it. What is left out, since Temporal lists it late, ends by itself at its next step. Throws what the client throws.
 */
export async function endWorkflows(temporal: Client, connectionId: string): Promise<void> {
  const reason = `The connection ${connectionId} was removed`;
  const { sync, reconcile, webhooks, approval } = workflowIds;
  const ids = [sync, reconcile, webhooks, approval].map((idOf) => idOf(connectionId));
  const query = `WorkflowId starts_with 'backfill/${connectionId}/' and ExecutionStatus = 'Running'`;
  await temporal.withDeadline(Date.now() + 10_000, async () => {
    for await (const { workflowId } of temporal.workflow.list({ query })) ids.push(workflowId);
    for (const id of ids) {
      try {
        await temporal.workflow.getHandle(id).terminate(reason);
      } catch (error) {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
      }
    }
  });
}
