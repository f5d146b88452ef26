import type { ConcurrentIndex } from './migration.ts';

/**
 * The newest discrepancies, whose deletions wait for approval, and whether a run has open ones, are found without looking at the others: one
 * company can leave millions.
 */
export const indexes: readonly ConcurrentIndex[] = [
  {
    table: 'sync.discrepancies',
    name: 'discrepancies_found_at_id_idx',
    on: '(found_at desc, id desc)',
  },
  {
    table: 'sync.discrepancies',
    name: 'discrepancies_found_gone_idx',
    on: `(connection_id, resource, run_id)
      where closed_at is null and status = 'confirmed' and kind = 'extra' and version is not null`,
  },
  {
    table: 'sync.discrepancies',
    name: 'discrepancies_open_of_run_idx',
    // As `sync.runs.run_id` is, which it is compared with: an index in the order of the database does not serve that.
    on: '(run_id collate "C") where closed_at is null',
  },
];
