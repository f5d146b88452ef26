import type { WorkflowHandle } from '@temporalio/client';
import type { Installation } from '../support/installation.ts';

/** Waits until the history of an execution has so many events, or the execution is over. */
export async function untilEvents(
  { client, namespace }: Pick<Installation, 'client' | 'namespace'>,
  handle: WorkflowHandle,
  events: number,
): Promise<void> {
  const { runId } = await handle.describe();
  const execution = { workflowId: handle.workflowId, runId };
  let nextPageToken: Uint8Array | undefined;
  do {
    const page = await client.workflowService.getWorkflowExecutionHistory({
      namespace,
      execution,
      waitNewEvent: true,
      ...(nextPageToken === undefined ? {} : { nextPageToken }),
    });
    const last = page.history?.events?.at(-1)?.eventId;
    if (Number(last ?? 0) >= events) return;
    nextPageToken = page.nextPageToken;
  } while (nextPageToken.length > 0);
}
