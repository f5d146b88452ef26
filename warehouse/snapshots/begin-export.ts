import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';

/** Opens the row of an export, as often as one likes. Older ones that never ended were ended from outside. */
export async function beginExport(
  { db }: Warehouse,
  run: { runId: string; workflowId: string; temporalRunId: string; reason: string },
): Promise<void> {
  await db.transaction().execute(async (transaction) => {
    const begun = await transaction
      .insertInto('sync.runs')
      .values({
        run_id: run.runId,
        connection_id: null,
        kind: 'export',
        status: 'running',
        workflow_id: run.workflowId,
        temporal_run_id: run.temporalRunId,
        reason: run.reason,
      })
      // Not the status: an attempt that was given up long ago must not open a finished run again.
      .onConflict((conflict) => conflict.column('run_id').doUpdateSet({ temporal_run_id: run.temporalRunId }))
      .returning('started_at')
      .executeTakeFirstOrThrow();
    await transaction
      .updateTable('sync.runs')
      .set({ status: 'interrupted', finished_at: sql<Date>`clock_timestamp()` })
      .where('kind', '=', 'export')
      .where('status', '=', 'running')
      .where('run_id', '<>', run.runId)
      .where('started_at', '<=', begun.started_at)
      .execute();
  });
}
