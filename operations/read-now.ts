import {
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  type Client,
} from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';
import { updates, type ReadsIn } from '../temporal/messages.ts';
import { workflowIds } from '../temporal/workflow-ids.ts';

/**
 * Asks a running sync to read the source's current state, by the update `syncNow`. Undefined if it does not answer: it has ended meanwhile, there
 * is no worker, or a release before 0.6 runs it.
 */
export async function readNow(
  client: Client,
  { connection, temporalRunId }: { connection: string; temporalRunId: string },
): Promise<ReadsIn | undefined> {
  const sync = client.workflow.getHandle(workflowIds.sync(connection), temporalRunId);
  try {
    const { readsIn } = await sync.executeUpdate<{ readsIn: ReadsIn }, []>(updates.syncNow);
    return readsIn;
  } catch (error) {
    const unanswered = [
      WorkflowUpdateFailedError,
      WorkflowNotFoundError,
      WorkflowUpdateRPCTimeoutOrCancelledError,
    ];
    if (unanswered.some((kind) => error instanceof kind)) return undefined;
    throw error;
  }
}
