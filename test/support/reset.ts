import { randomUUID } from 'node:crypto';
import type { Workflow, WorkflowHandle } from '@temporalio/client';
import type { Installation } from './installation.ts';

/**
 * Resets a workflow to a workflow task as the Web UI does, and returns a handle on the new execution. Tasks count from the start (0) or
 * from the end (-1).
 */
export async function resetTo<T extends Workflow>(
  { client, namespace }: Pick<Installation, 'client' | 'namespace'>,
  handle: WorkflowHandle<T>,
  task: number,
): Promise<WorkflowHandle<T> & { temporalRunId: string }> {
  const { workflowId } = handle;
  const { runId: closed } = await handle.describe();
  const chosen = (await readTaskEventIds(handle)).at(task);
  if (chosen === undefined) throw new Error(`${workflowId} has no such workflow task.`);
  const { runId } = await client.workflowService.resetWorkflowExecution({
    namespace,
    workflowExecution: { workflowId, runId: closed },
    reason: 'test',
    workflowTaskFinishEventId: chosen,
    requestId: randomUUID(),
  });
  return Object.assign(client.workflow.getHandle<T>(workflowId, runId), { temporalRunId: runId });
}

/** Ids of the events that complete a workflow's tasks, which are the points that it can be reset to. */
export async function readTaskEventIds(handle: WorkflowHandle): Promise<Long[]> {
  const { events } = await handle.fetchHistory();
  return (events ?? []).flatMap(({ workflowTaskCompletedEventAttributes, eventId }) =>
    workflowTaskCompletedEventAttributes && eventId ? [eventId] : [],
  );
}

type Long = NonNullable<
  NonNullable<Awaited<ReturnType<WorkflowHandle['fetchHistory']>>['events']>[number]['eventId']
>;
