import type { WorkflowHandle } from '@temporalio/client';

export interface EventCounts {
  events: number;
  /** Actions as Temporal Cloud bills them: starts, activities with their retries, timers, signals, search attributes, children. */
  actions: number;
}

export async function countEvents(handle: Pick<WorkflowHandle, 'fetchHistory'>): Promise<EventCounts> {
  const events = (await handle.fetchHistory()).events ?? [];
  const actions = events.reduce((sum, event) => {
    const retries = Math.max(0, (event.activityTaskStartedEventAttributes?.attempt ?? 1) - 1);
    const isAction =
      event.workflowExecutionStartedEventAttributes ??
      event.activityTaskScheduledEventAttributes ??
      event.timerStartedEventAttributes ??
      event.workflowExecutionSignaledEventAttributes ??
      event.upsertWorkflowSearchAttributesEventAttributes ??
      event.startChildWorkflowExecutionInitiatedEventAttributes;
    return sum + retries + (isAction === null || isAction === undefined ? 0 : 1);
  }, 0);
  return { events: events.length, actions };
}
