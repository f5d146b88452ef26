import type { ConcurrentIndex } from './migration.ts';

/** What status, runs and alerts ask of a ledger of a hundred million runs is found by looking at what is asked for. */
export const indexes: readonly ConcurrentIndex[] = [
  // The few that were continued as another Temporal run; the others are found by their name.
  {
    table: 'sync.runs',
    name: 'runs_temporal_run_id_idx',
    on: '(temporal_run_id) where temporal_run_id <> run_id',
  },
  {
    table: 'sync.runs',
    name: 'runs_of_webhooks_idx',
    on: `(connection_id, started_at) where kind = 'webhook'`,
  },
  {
    table: 'sync.run_streams',
    name: 'run_streams_unannounced_idx',
    on: '(connection_id, started_at) where unannounced > 0',
  },
];
