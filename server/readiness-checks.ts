import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import type { RunningWorker } from '../worker/start-worker.ts';
import type { ReadinessChecks } from './readiness.ts';

/** The checks of everything that one of our processes needs. A process that only serves has no worker. */
export function readinessChecks(parts: {
  readonly warehouse: Warehouse;
  readonly client: Client;
  readonly worker?: RunningWorker | undefined;
}): ReadinessChecks {
  const { warehouse, client, worker } = parts;
  return {
    database: () => warehouse.pool.query('select 1'),
    temporal: () => client.workflowService.describeNamespace({ namespace: client.options.namespace }),
    ...(worker === undefined ? {} : { worker: () => stillRunning(worker) }),
  };
}

/** Rejects if the worker has stopped. A running worker gives no other signal than to settle `done` when it stops. */
async function stillRunning(worker: Pick<RunningWorker, 'done'>): Promise<void> {
  await Promise.race([worker.done.then(hasStopped), nextTurn()]);
}

function hasStopped(): never {
  throw new Error('The worker has stopped.');
}
