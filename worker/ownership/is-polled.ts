import type { Client } from '@temporalio/client';
import { mainQueue, pagingQueue } from '../task-queues.ts';

/** Whether a worker, of whomever, has asked for work in the last minutes: Temporal names pollers for five minutes after they are gone. */
export async function isPolled(temporal: Client): Promise<boolean> {
  const { namespace } = temporal.options;
  for (const name of [mainQueue, pagingQueue]) {
    for (const taskQueueType of [taskQueueTypes.workflow, taskQueueTypes.activity]) {
      const { pollers } = await temporal.workflowService.describeTaskQueue({
        ...{ namespace, taskQueue: { name }, taskQueueType },
      });
      if (pollers.length > 0) return true;
    }
  }
  return false;
}

const taskQueueTypes = { workflow: 1, activity: 2 };
