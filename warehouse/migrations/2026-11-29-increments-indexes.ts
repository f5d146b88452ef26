import type { ConcurrentIndex } from './migration.ts';

/**
 * What changed since a time is found without looking at what has not. Every row has such a time: the conditions keep the indexes from
 * statements that ask for none, for a single record costs the same by each index of a table that was empty when the statement was planned,
 * and with this one it would cost a look at all records of the connection once there are many.
 */
export const indexes: readonly ConcurrentIndex[] = [
  ...['bills', 'expenses', 'bill_credit_memos', 'customers', 'items', 'subscriptions'].map((name) => ({
    table: `finance.${name}` as const,
    name: `${name}_connection_id__changed_at_idx`,
    on: '(connection_id, _changed_at) where _changed_at is not null',
  })),
  {
    table: 'sync.tombstones',
    name: 'tombstones_connection_id_resource_noted_at_idx',
    on: '(connection_id, resource, noted_at) where noted_at is not null',
  },
];
