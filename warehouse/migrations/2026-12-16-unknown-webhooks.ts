import type { ConcurrentIndex } from './migration.ts';

/** Webhooks of a company that no connection was known to be, found once one is. */
export const indexes: readonly ConcurrentIndex[] = [
  {
    table: 'sync.webhook_inbox',
    name: 'webhook_inbox_service_connection_id_idx',
    on: '(service_connection_id) where connection_id is null',
  },
];
