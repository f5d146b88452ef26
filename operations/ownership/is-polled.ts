import type { Client } from '@temporalio/client';
import { mainQueue } from '../../temporal/task-queues.ts';

/** Whether any worker has polled in the last minutes: Temporal lists pollers for five minutes after they are gone. */
export async function isPolled(temporal: Client): Promise<boolean> {
  const { pollers } = await temporal.workflowService.describeTaskQueue({
    namespace: temporal.options.namespace,
    taskQueue: { name: mainQueue },
  });
  return pollers.length > 0;
}
