import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { rows } from './rows.ts';

/**
 * Ends the sessions that hold locks, as Postgres does if their process has signalled nothing for half a minute, and waits until they are gone. `also`
 * names further applications whose sessions end, as all do at a restart.
 */
export async function loseLock(warehouse: Warehouse, also: readonly string[] = []): Promise<void> {
  await rows(
    warehouse,
    `select pg_terminate_backend(pid, 10000) from pg_stat_activity
     where datname = current_database() and application_name = any($1)`,
    [['daybook lock', ...also]],
  );
}
