import { sql } from 'kysely';
import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { requireClock } from '../clock/require-clock.ts';
import type { MartsTarget } from '../tables/marts.ts';

/** A run that works for no single connection. */
export interface RunOfAll {
  readonly runId: string;
  readonly kind: 'export' | 'marts';
  /** For a build of marts. */
  readonly target: MartsTarget | null;
  readonly workflowId: string;
  readonly temporalRunId: string;
  readonly reason: string;
}

/** Opens the row of a run; idempotent. Older runs of its kind that never ended were ended from outside. Throws ClockWrong. */
export async function beginRunOfAll({ pool }: Warehouse, run: RunOfAll): Promise<void> {
  const { runId, kind, target, workflowId, temporalRunId, reason } = run;
  await inTransaction(pool, async ({ db }) => {
    await requireClock({ db });
    await db
      .insertInto('sync.runs')
      .values({
        run_id: runId,
        connection_id: null,
        kind,
        target,
        status: 'running',
        workflow_id: workflowId,
        temporal_run_id: temporalRunId,
        reason,
        // Later than every run before it, whatever the clock of the database does.
        started_at: sql<Date>`greatest(clock_timestamp(), (
          select max(started_at) + interval '1 microsecond' from sync.runs where connection_id is null
        ))`,
        ...(workflowId === '' ? { beat_at: sql<Date>`clock_timestamp()` } : {}),
      })
      // Leaves the status alone: an attempt that was given up long ago must not reopen a finished run.
      .onConflict((conflict) => conflict.column('run_id').doUpdateSet({ temporal_run_id: temporalRunId }))
      .execute();
    await db
      .updateTable('sync.runs')
      .set({ status: 'interrupted', finished_at: sql<Date>`clock_timestamp()` })
      .where('kind', '=', kind)
      .where('target', 'is not distinct from', target)
      .where('status', '=', 'running')
      .where('run_id', '<>', runId)
      // Compared in SQL: a Date would cut its microseconds.
      .where(sql<boolean>`started_at <= (select started_at from sync.runs where run_id = ${runId})`)
      .execute();
  });
}
