import { sql } from 'kysely';
import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { finishRunOfAll } from '../runs/finish-run-of-all.ts';
import type { RequireLock } from './build-lock.ts';
import type { MartsTarget } from '../tables/marts.ts';

/** A successful build of marts that readers see from now on. */
export interface MartsNote {
  readonly runId: string;
  readonly target: MartsTarget;
  /** As YYYY-MM-DD. */
  readonly asOfDate: string;
  /** The snapshot they were built on; null: the tables in Postgres. */
  readonly snapshotId: string | null;
  /** The time of their rows; absent: since the run began. */
  readonly rowsOf?: string;
  readonly marts: number;
  /** The outcome of the run, in a sentence. */
  readonly outcome: string;
}

/** Records what readers see now, and closes the run that built it. If the process dies before, the build is repeated. */
export async function noteMarts(
  { pool }: Warehouse,
  note: MartsNote,
  requireLock?: RequireLock,
): Promise<void> {
  const { runId, target, asOfDate, snapshotId, rowsOf = null, marts, outcome } = note;
  await inTransaction(pool, async ({ client, db }) => {
    await requireLock?.(client);
    await sql`
      insert into sync.marts (target, run_id, as_of_date, snapshot_id, marts, begun_at)
      select ${target}, run_id, ${asOfDate}::date, ${snapshotId}::text, ${marts}::integer,
        coalesce(${rowsOf}::timestamptz, started_at)
      from sync.runs where run_id = ${runId}
      on conflict (target) do update set run_id = excluded.run_id, as_of_date = excluded.as_of_date,
        snapshot_id = excluded.snapshot_id, marts = excluded.marts, begun_at = excluded.begun_at,
        built_at = excluded.built_at
    `.execute(db);
    await finishRunOfAll({ db }, { runId, status: 'succeeded', failure: null, outcome });
  });
}
