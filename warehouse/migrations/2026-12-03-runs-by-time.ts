import type { ConcurrentIndex } from './migration.ts';

/** The newest runs of all, and the newest of a connection but for webhooks: found without reading the ledger. */
export const indexes: readonly ConcurrentIndex[] = [
  { table: 'sync.runs', name: 'runs_started_at_run_id_idx', on: '(started_at desc, run_id desc)' },
  {
    table: 'sync.runs',
    name: 'runs_connection_id_started_at_not_webhook_idx',
    on: "(connection_id, started_at desc) where kind <> 'webhook'",
  },
];
