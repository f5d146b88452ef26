import type { ConcurrentIndex } from './migration.ts';

/** The newest runs that failed, and those after one, are found without looking at every run of a connection. */
export const indexes: readonly ConcurrentIndex[] = [
  {
    table: 'sync.runs',
    name: 'runs_failed_idx',
    on: "(connection_id, kind, started_at) where kind in ('sync', 'reconcile', 'backfill') and status in ('failed', 'partial')",
  },
  {
    table: 'sync.runs',
    name: 'runs_reconciles_and_backfills_idx',
    on: "(connection_id, kind, started_at) where kind in ('reconcile', 'backfill')",
  },
];
