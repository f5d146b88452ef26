import type { ConcurrentIndex } from './migration.ts';

/**
 * What was recorded since a time, which pruning asks for. A BRIN index would be smaller, and finds nothing any more once new versions
 * fill the places of those that pruning removed: then every range of pages has old and new ones.
 */
export const indexes: readonly ConcurrentIndex[] = [
  { table: 'history.record_versions', name: 'record_versions_recorded_at_idx', on: '(recorded_at)' },
];
