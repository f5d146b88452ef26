import type { ConcurrentIndex } from './migration.ts';

/** What changed since a time is found without looking at what has not. */
export const indexes: readonly ConcurrentIndex[] = [
  ...['bills', 'expenses', 'bill_credit_memos', 'customers', 'items', 'subscriptions'].map((name) => ({
    table: `finance.${name}` as const,
    name: `${name}_connection_id__changed_at_idx`,
    on: '(connection_id, _changed_at)',
  })),
  {
    table: 'sync.tombstones',
    name: 'tombstones_connection_id_resource_noted_at_idx',
    on: '(connection_id, resource, noted_at)',
  },
];
