import type { WorkerDeploymentVersion } from '@temporalio/common';
import {
  Worker,
  type NativeConnection,
  type WorkerDeploymentOptions,
  type WorkerOptions,
} from '@temporalio/worker';
import type { Logger } from 'pino';
import type { Dependencies } from '../activities/dependencies.ts';
import { beatMilliseconds } from '../activities/heartbeating.ts';
import { createActivities } from '../activities/index.ts';
import type { TemporalSettings } from '../config/temporal-settings.ts';
import { failureInterceptor } from './failures.ts';
import type { PagingSlots } from './paging-slots.ts';
import { exportQueue, mainQueue, martsQueue, pagingQueue } from '../temporal/task-queues.ts';
import { workflowBundle } from './workflow-bundle.ts';

export interface RunningWorker {
  /** Settles when the workers have stopped. Rejects if one of them failed. */
  readonly done: Promise<void>;
  /** Lets chunks end after the current page, and waits until all have stopped. Rejects as `done` does. */
  readonly stop: () => Promise<void>;
}

/** Starts the workers of one process: one for each task queue, over one connection. */
export async function startWorker(input: {
  connection: NativeConnection;
  namespace: string;
  deployment: TemporalSettings['deployment'];
  dependencies: Omit<Dependencies, 'stopping'>;
  /** The slots of the queue in which pages are read. */
  pagingSlots: PagingSlots['supplier'];
  /** Called with the error of every failed activity. */
  onFailure: (error: unknown) => void;
  logger: Logger;
}): Promise<RunningWorker> {
  const { connection, namespace, deployment, logger, pagingSlots } = input;
  const stopping = new AbortController();
  const activities = createActivities({ ...input.dependencies, stopping: stopping.signal });
  const common: WorkerOptions = {
    connection,
    namespace,
    taskQueue: mainQueue,
    interceptors: { activity: [() => ({ inbound: failureInterceptor(logger, input.onFailure) })] },
    shutdownGraceTime: '20s',
    shutdownForceTime: '45s',
    // By default Temporal gets a heartbeat only every 16 s (0.8 of the timeout), and an activity learns of its cancellation as late.
    maxHeartbeatThrottleInterval: beatMilliseconds,
    ...(deployment === undefined ? {} : { workerDeploymentOptions: versioned(deployment) }),
  };
  const workers = [
    await Worker.create({
      ...common,
      activities: { ...activities },
      workflowBundle: await workflowBundle(),
      maxCachedWorkflows: 200,
    }),
    await Worker.create({
      ...common,
      taskQueue: pagingQueue,
      activities: { ...activities },
      tuner: {
        activityTaskSlotSupplier: pagingSlots,
        workflowTaskSlotSupplier: unused,
        localActivityTaskSlotSupplier: unused,
        nexusTaskSlotSupplier: unused,
      },
    }),
    await Worker.create({
      ...common,
      taskQueue: exportQueue,
      activities: { ...activities },
      maxConcurrentActivityTaskExecutions: 1,
    }),
    await Worker.create({
      ...common,
      taskQueue: martsQueue,
      activities: { ...activities },
      maxConcurrentActivityTaskExecutions: 1,
    }),
  ];
  const runs = workers.map((worker) => worker.run());
  const done = Promise.all(runs).then(() => undefined);
  return {
    done,
    async stop() {
      stopping.abort();
      for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
      // A failed worker must not end the wait for the others.
      await Promise.allSettled(runs);
      await done;
    },
  };
}

/** The paging queue has activities only. */
const unused = { type: 'fixed-size', numSlots: 1 } as const;

/** Every release continues the workflows of earlier ones, and a workflow that waits for a person may wait for a month. */
function versioned(version: WorkerDeploymentVersion): WorkerDeploymentOptions {
  return { version, useWorkerVersioning: true, defaultVersioningBehavior: 'AUTO_UPGRADE' };
}
