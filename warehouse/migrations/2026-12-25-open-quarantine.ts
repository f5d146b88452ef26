import type { ConcurrentIndex } from './migration.ts';

/** The newest open entries, and some of them to count, are found without looking at the others: one company can leave millions. */
export const indexes: readonly ConcurrentIndex[] = [
  {
    table: 'sync.quarantine',
    name: 'quarantine_open_of_connection_idx',
    on: `(connection_id, resource, id) where status = 'open'`,
  },
  {
    table: 'sync.quarantine',
    name: 'quarantine_open_of_resource_idx',
    on: `(resource, id) where status = 'open'`,
  },
];
