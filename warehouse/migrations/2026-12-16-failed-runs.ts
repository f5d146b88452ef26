import type { ConcurrentIndex } from './migration.ts';

/** The newest runs that failed, and those after one, are found without looking at every sync of a connection. */
export const indexes: readonly ConcurrentIndex[] = [
  {
    table: 'sync.runs',
    name: 'runs_failed_syncs_idx',
    on: "(connection_id, started_at) where kind = 'sync' and status in ('failed', 'partial')",
  },
  {
    table: 'sync.runs',
    name: 'runs_reconciles_and_backfills_idx',
    on: "(connection_id, kind, started_at) where kind in ('reconcile', 'backfill')",
  },
];
