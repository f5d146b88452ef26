import type { ConcurrentIndex } from './migration.ts';

/** Whether a reconcile has decided about what a list goes on showing is asked for record by record. */
export const indexes: readonly ConcurrentIndex[] = [
  {
    table: 'sync.discrepancies',
    name: 'discrepancies_decided_idx',
    on: `(connection_id, resource, record_id) where kind = 'ahead' and closed_at is not null`,
  },
];
