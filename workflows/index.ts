/** Every workflow that a worker runs; the bundle starts here. */
export { applyWebhooks } from './apply-webhooks.ts';
export { awaitApproval } from './await-approval.ts';
export { backfillConnection } from './backfill-connection.ts';
export { buildMarts } from './build-marts.ts';
export { exportSnapshot } from './export-snapshot.ts';
export { namespaceOwner } from './namespace-owner.ts';
export { pruneWarehouse } from './prune-warehouse.ts';
export { reconcileConnection } from './reconcile-connection.ts';
export { scheduledStart } from './scheduled-start.ts';
export { syncConnection } from './sync-connection.ts';
