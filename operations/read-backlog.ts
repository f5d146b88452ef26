import type { Client } from '@temporalio/client';
import proto from '@temporalio/proto';
import { mainQueue, pagingQueue } from '../temporal/task-queues.ts';
import type { Backlog } from '../warehouse/alerts/backlog.ts';

/**
 * Returns the approximate number of waiting tasks of runs, as Temporal counts them, without exports and builds, which run one at a time.
 * Undefined if the server is too old to count. Throws the errors of the client.
 */
export async function readBacklog(temporal: Client): Promise<Backlog | undefined> {
  const { namespace } = temporal.options;
  const waiting = await temporal.withDeadline(Date.now() + 3_000, () =>
    Promise.all(
      queues.map(async ({ name, taskQueueType }) => {
        const { stats } = await temporal.workflowService.describeTaskQueue({
          namespace,
          taskQueue: { name },
          taskQueueType,
          reportStats: true,
        });
        return stats;
      }),
    ),
  );
  const counted = waiting.flatMap((stats) => (stats === null || stats === undefined ? [] : [stats]));
  if (counted.length === 0) return undefined;
  return {
    steps: counted.reduce((sum, stats) => sum + Number(stats.approximateBacklogCount ?? 0), 0),
    oldestSeconds: Math.max(...counted.map((stats) => Number(stats.approximateBacklogAge?.seconds ?? 0))),
  };
}

const { TASK_QUEUE_TYPE_WORKFLOW, TASK_QUEUE_TYPE_ACTIVITY } = proto.temporal.api.enums.v1.TaskQueueType;
const queues = [
  { name: mainQueue, taskQueueType: TASK_QUEUE_TYPE_WORKFLOW },
  { name: mainQueue, taskQueueType: TASK_QUEUE_TYPE_ACTIVITY },
  { name: pagingQueue, taskQueueType: TASK_QUEUE_TYPE_ACTIVITY },
];
