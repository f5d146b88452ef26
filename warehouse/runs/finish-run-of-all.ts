import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';

/** The end of a run that worked for no single connection. */
export interface RunOfAllEnd {
  readonly runId: string;
  readonly status: 'succeeded' | 'failed' | 'cancelled' | 'unsupported';
  readonly failure: string | null;
  readonly outcome: string | null;
}

/** Closes the row of a run. */
export async function finishRunOfAll({ db }: Pick<Warehouse, 'db'>, run: RunOfAllEnd): Promise<void> {
  const { runId, status, failure, outcome } = run;
  await db
    .updateTable('sync.runs')
    .set({ status, failure, outcome, finished_at: sql<Date>`clock_timestamp()` })
    .where('run_id', '=', runId)
    .execute();
}

/** Closes the rows of runs that were cancelled. One that had succeeded before stays as it is. */
export async function cancelRunsOfAll(
  { db }: Pick<Warehouse, 'db'>,
  runIds: readonly string[],
): Promise<void> {
  await db
    .updateTable('sync.runs')
    .set({ status: 'cancelled', failure: null, outcome: null, finished_at: sql<Date>`clock_timestamp()` })
    .where('run_id', 'in', runIds)
    .where('status', '<>', 'succeeded')
    .execute();
}
