import { sql, type RawBuilder } from 'kysely';
import { inTransaction } from '../transactions/in-transaction.ts';
import { ConnectionReplaced, UnknownConnection } from '../errors.ts';
import { checkClock } from '../clock/require-clock.ts';
import type { RunKind } from '../tables/runs.ts';
import type { Warehouse } from '../open-warehouse.ts';

export interface RunToBegin {
  runId: string;
  connectionId: string;
  kind: RunKind;
  workflowId: string;
  temporalRunId: string;
  reason: string;
  /** Begin only if no other run of this kind is open. */
  alone?: boolean;
}

/**
 * Opens the run, or continues it if it exists. Older runs of the same kind that are marked as running become `interrupted`: Temporal allows one run
 * at a time, so their workflow was ended from outside, or gives way to this one. Throws ClockWrong, UnknownConnection, ConnectionReplaced, and
 * AnotherRuns if the run is to be alone.
 */
export async function beginRun({ pool }: Warehouse, run: RunToBegin): Promise<void> {
  await inTransaction(pool, async ({ db }) => {
    const connection = await db
      .selectFrom('sync.connections')
      .select([isRemoved(run).as('isRemoved'), sql<Date>`clock_timestamp()`.as('now')])
      .where('connection_id', '=', run.connectionId)
      .forUpdate()
      .executeTakeFirst();
    if (connection === undefined) throw new UnknownConnection(run.connectionId);
    checkClock(connection.now);
    if (connection.isRemoved) throw new ConnectionReplaced(run.connectionId);
    if (run.alone === true) await refuseBeside(db, run);
    await db
      .insertInto('sync.runs')
      .values({
        run_id: run.runId,
        connection_id: run.connectionId,
        kind: run.kind,
        status: 'running',
        workflow_id: run.workflowId,
        temporal_run_id: run.temporalRunId,
        reason: run.reason,
        // Later than every run before it, whatever the clock of the database does.
        started_at: sql<Date>`greatest(clock_timestamp(), (
          select max(started_at) + interval '1 microsecond' from sync.runs where connection_id = ${run.connectionId}
        ))`,
        timeline: sql<string | null>`sync.timeline()`,
        ...(run.workflowId === '' ? { beat_at: sql<Date>`clock_timestamp()` } : {}),
      })
      .onConflict((conflict) =>
        // Leaves the status alone: an attempt that was given up long ago must not reopen a finished run. Nor may an attempt of a tick take the run
        // back from the sync that continues it, or an attempt after a reset the run that the earlier workflow has ended.
        conflict.column('run_id').doUpdateSet({
          temporal_run_id: sql<string>`case when runs.workflow_id = ${run.workflowId} and runs.status = 'running'
            then ${run.temporalRunId} else runs.temporal_run_id end`,
        }),
      )
      .execute();
    const interrupted = await db
      .updateTable('sync.runs')
      .set({ status: 'interrupted', finished_at: sql<Date>`clock_timestamp()` })
      .where('connection_id', '=', run.connectionId)
      .where('kind', '=', run.kind)
      // Two backfills of different times may run at once, and so may commands, which have no workflow. A sync runs in its own workflow or in the
      // tick of a schedule, and the one that begins last goes on.
      .where((eb) => eb.or([eb('workflow_id', '=', run.workflowId), eb(eb.val(run.kind), '=', 'sync')]))
      .where('workflow_id', '<>', '')
      .where('status', '=', 'running')
      .where('run_id', '<>', run.runId)
      // Compared in SQL: a Date would cut its microseconds.
      .where(sql<boolean>`started_at <= (select started_at from sync.runs where run_id = ${run.runId})`)
      .returning('run_id')
      .execute();
    if (interrupted.length > 0) {
      await db
        .updateTable('sync.run_streams')
        .set({ status: 'interrupted', finished_at: sql<Date>`clock_timestamp()` })
        .where('status', '=', 'running')
        .where(
          'run_id',
          'in',
          interrupted.map(({ run_id }) => run_id),
        )
        .execute();
    }
  });
}

/** Whether the run belonged to a removed connection: its row would be created again under the connection that has the name now. */
function isRemoved({ connectionId, runId }: RunToBegin): RawBuilder<boolean> {
  return sql`exists (select from sync.removed_runs where connection_id = ${connectionId} and run_id = ${runId})`;
}

async function refuseBeside(db: Warehouse['db'], run: RunToBegin): Promise<void> {
  const other = await db
    .selectFrom('sync.runs')
    .select('run_id')
    .where('connection_id', '=', run.connectionId)
    .where('kind', '=', run.kind)
    .where('workflow_id', '<>', '')
    .where('status', '=', 'running')
    .where('run_id', '<>', run.runId)
    .limit(1)
    .executeTakeFirst();
  if (other !== undefined) throw new AnotherRuns(run.kind);
}

/** A run that was to be alone is not: another run of its kind is open. */
export class AnotherRuns extends Error {
  override readonly name = 'AnotherRuns';
  readonly handling = 'retry';

  constructor(kind: RunKind) {
    super(`Another ${kind} of the connection runs.`);
  }
}
