import type { ConcurrentIndex } from './migration.ts';

/** What is over and what was discarded is found without looking at the whole ledger. */
export const indexes: readonly ConcurrentIndex[] = [
  {
    table: 'sync.runs',
    name: 'runs_started_at_idx',
    on: "(started_at) where status = 'running' and workflow_id = ''",
  },
  {
    table: 'sync.quarantine',
    name: 'quarantine_connection_id_resource_discarded_content_idx',
    on: '(connection_id, resource, discarded_content) where discarded_content is not null',
  },
];
