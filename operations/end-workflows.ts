import { WorkflowNotFoundError, type Client } from '@temporalio/client';
import { workflowIds } from '../temporal/workflow-ids.ts';

/**
 * Terminates the workflows of a removed connection: they can no longer land anything, and a new connection of the same name must not join them.
 * Workflows that Temporal lists too late end by themselves at their next step. Throws the errors of the client.
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
