import { proxyActivities } from '@temporalio/workflow';
import type { ActivitiesOf } from '../activities/index.ts';
import { exportQueue, martsQueue, pagingQueue } from '../temporal/task-queues.ts';

/**
 * No attempt limits: a worker that restarts costs an attempt too. What must end, ends by the kind of its error, or by
 * DAYBOOK_GIVE_UP_AFTER within the activity. At most 20 s between tries, so that work goes on soon after a fault ends.
 */
const retry = { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '20s' } as const;

/** Bookkeeping: one short transaction each. What a killed worker had in hand is taken up again after the timeout. */
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

/** Steps of a reconcile over a whole resource: seconds for a million records, but nobody knows how many there are. */
export const comparing = proxyActivities<ActivitiesOf<'comparing'>>({
  taskQueue: pagingQueue,
  startToCloseTimeout: '1h',
  heartbeatTimeout: '20s',
  retry,
});

/** Removing what is old, a small transaction after the other: seconds a day, hours when the keeping was shortened. */
export const keeping = proxyActivities<ActivitiesOf<'keeping'>>({
  taskQueue: pagingQueue,
  startToCloseTimeout: '12h',
  heartbeatTimeout: '20s',
  retry,
});

/** A snapshot of all tables: seconds for thousands of rows, an hour for hundreds of millions. A queue of its own, for its load. */
export const exporting = proxyActivities<ActivitiesOf<'exporting'>>({
  taskQueue: exportQueue,
  startToCloseTimeout: '12h',
  heartbeatTimeout: '20s',
  retry,
});

/** Building marts: a minute for thousands of documents. A queue of its own, so that it holds up no export. */
export const building = proxyActivities<ActivitiesOf<'building'>>({
  taskQueue: martsQueue,
  startToCloseTimeout: '12h',
  heartbeatTimeout: '20s',
  // A build that is cancelled is over when dbt is: the next one finds nothing in its way.
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry,
});

/** Applying webhooks: a chunk ends after 30 s. Not behind the pages of long syncs, for a change is to be seen in seconds. */
export const applying = proxyActivities<ActivitiesOf<'applying'>>({
  startToCloseTimeout: '5m',
  heartbeatTimeout: '20s',
  retry,
});

/**
 * The work of a schedule when it fires: one database query, and one call of Temporal. `worker/retry-delay.ts` says how long it waits
 * after a failed attempt.
 */
export const starting = proxyActivities<ActivitiesOf<'starting'>>({
  startToCloseTimeout: '20s',
  retry,
});

/** The same for a sync, of which it reads a page of every stream. Where pages are read, so that it holds up nothing shorter. */
export const syncing = proxyActivities<ActivitiesOf<'starting'>>({
  taskQueue: pagingQueue,
  startToCloseTimeout: '2m',
  heartbeatTimeout: '20s',
  // It closes its run itself.
  cancellationType: 'WAIT_CANCELLATION_COMPLETED',
  retry,
});
