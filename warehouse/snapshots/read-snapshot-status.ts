import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';
import type { RunStatus } from '../tables/runs.ts';

/** The newest snapshot, and the outcome of the last export. */
export interface SnapshotStatus {
  /** Null: none was published yet. */
  readonly snapshot_id: string | null;
  readonly taken_at: Date | null;
  /** Negative: the clock of Postgres was ahead when it was taken. */
  readonly age_seconds: number | null;
  readonly rows: number | null;
  /** Status of the last export; null: there was none. */
  readonly status: RunStatus | null;
  readonly failure: string | null;
  readonly outcome: string | null;
}

export async function readSnapshotStatus({ db }: Warehouse): Promise<SnapshotStatus> {
  const { rows } = await sql<SnapshotStatus>`
    select s.snapshot_id, s.taken_at, s.rows,
      extract(epoch from now() - s.taken_at)::bigint as age_seconds, r.status, r.failure, r.outcome
    from (select) as always
    left join lateral (
      select * from sync.snapshots where removed_at is null order by taken_at desc limit 1
    ) s on true
    left join lateral (
      select * from sync.runs
      where connection_id is null and kind = 'export'
      order by started_at desc, run_id desc limit 1
    ) r on true
  `.execute(db);
  return rows[0] ?? never;
}

const never: SnapshotStatus = {
  snapshot_id: null,
  taken_at: null,
  age_seconds: null,
  rows: null,
  status: null,
  failure: null,
  outcome: null,
};
