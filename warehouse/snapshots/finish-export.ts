import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';

/** Closes the row of an export with what is true of it. */
export async function finishExport(
  { db }: Warehouse,
  run: {
    runId: string;
    status: 'succeeded' | 'failed' | 'cancelled';
    failure: string | null;
    outcome: string | null;
  },
): Promise<void> {
  const { runId, status, failure, outcome } = run;
  await db
    .updateTable('sync.runs')
    .set({ status, failure, outcome, finished_at: sql<Date>`clock_timestamp()` })
    .where('run_id', '=', runId)
    .execute();
}
