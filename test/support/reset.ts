import { randomUUID } from 'node:crypto';
import type { syncConnection } from '../../workflows/index.ts';
import type { Installation } from './installation.ts';
import type { SyncHandle } from './sync.ts';

/**
 * Resets a workflow to a workflow task, counted from its start (0) or its end (-1), as the Web UI does; returns a handle on
 * the new execution.
 */
export async function resetTo(
  { client, namespace }: Pick<Installation, 'client' | 'namespace'>,
  handle: SyncHandle,
  task: number,
): Promise<SyncHandle & { temporalRunId: string }> {
  const { workflowId } = handle;
  const { runId: closed } = await handle.describe();
  const { events } = await handle.fetchHistory();
  const tasks = (events ?? []).filter((event) => event.workflowTaskCompletedEventAttributes);
  const chosen = tasks.at(task);
  if (chosen?.eventId === undefined) throw new Error(`${workflowId} has no such workflow task.`);
  const { runId } = await client.workflowService.resetWorkflowExecution({
    namespace,
    workflowExecution: { workflowId, runId: closed },
    reason: 'test',
    workflowTaskFinishEventId: chosen.eventId,
    requestId: randomUUID(),
  });
  return Object.assign(client.workflow.getHandle<typeof syncConnection>(workflowId, runId), {
    temporalRunId: runId,
  });
}
