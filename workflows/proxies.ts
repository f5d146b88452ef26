import { proxyActivities } from '@temporalio/workflow';
import type { ActivitiesOf } from '../activities/index.ts';
import { exportQueue, martsQueue, pagingQueue } from '../temporal/task-queues.ts';

/**
 * No attempt limits, because a worker restart costs an attempt too. Retries end by the kind of error, or by DAYBOOK_GIVE_UP_AFTER within the
 * activity. At most 20 s between attempts, so that work continues soon after a fault ends.
 */
const retry = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '20s' } as const;

/** Bookkeeping: one short transaction each. Work of a killed worker is retried after the timeout. */
export const bookkeeping = proxyActivities<ActivitiesOf<'bookkeeping'>>({
  startToCloseTimeout: '20s',
  retry,
});

/** Paging: a chunk ends after 30 s or 50 pages, but its last page may wait for a slow service. */
export const paging = proxyActivities<ActivitiesOf<'paging'>>({
  taskQueue: pagingQueue,
  startToCloseTimeout: '10m',
  heartbeatTimeout: '20s',
  retry,
});

/** Steps of a reconcile over a whole resource: seconds for a million records, but the number of records is unknown. */
export const comparing = proxyActivities<ActivitiesOf<'comparing'>>({
  taskQueue: pagingQueue,
  startToCloseTimeout: '1h',
  heartbeatTimeout: '20s',
  retry,
});

/** Removing old rows in small transactions: seconds a day, hours after a retention was shortened. */
export const keeping = proxyActivities<ActivitiesOf<'keeping'>>({
  taskQueue: pagingQueue,
  startToCloseTimeout: '12h',
  heartbeatTimeout: '20s',
  retry,
});

/** A snapshot of all tables: seconds for thousands of rows, an hour for hundreds of millions. A queue of its own, because of its load. */
export const exporting = proxyActivities<ActivitiesOf<'exporting'>>({
  taskQueue: exportQueue,
  startToCloseTimeout: '12h',
  heartbeatTimeout: '20s',
  retry,
});

/** Building marts: a minute for thousands of documents. A queue of its own, so that it does not hold up exports. */
export const building = proxyActivities<ActivitiesOf<'building'>>({
  taskQueue: martsQueue,
  startToCloseTimeout: '12h',
  heartbeatTimeout: '20s',
  // A canceled build is over once dbt has ended, so that the next one finds nothing in its way.
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry,
});

/** Applying webhooks: a chunk ends after 30 s. Not on the paging queue, so that changes show within seconds despite long syncs. */
export const applying = proxyActivities<ActivitiesOf<'applying'>>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '20s',
  retry,
});

/**
 * The work of a schedule when it fires: one database query, and one call to Temporal. `worker/retry-delay.ts` has the delay after a failed
 * attempt.
 */
export const starting = proxyActivities<ActivitiesOf<'starting'>>({
  startToCloseTimeout: '20s',
  retry,
});

/** The same for a sync, which reads a page of every stream. On the paging queue, so that it holds up nothing shorter. */
export const syncing = proxyActivities<ActivitiesOf<'starting'>>({
  taskQueue: pagingQueue,
  startToCloseTimeout: '2m',
  heartbeatTimeout: '20s',
  // It closes its run itself.
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry,
});
