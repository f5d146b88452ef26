import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';
import type { MartsTarget } from '../tables/marts.ts';
import type { RunStatus } from '../tables/runs.ts';

/** The marts of one target as readers see them, and the outcome of the last build. */
export interface TargetStatus {
  /** The day that the marts describe; null: there never was a good build. */
  readonly as_of_date: string | null;
  /** The marts show data of that time, or later: when the build began, or when the snapshot that Postgres has a copy of was taken. */
  readonly begun_at: Date | null;
  readonly built_at: Date | null;
  readonly age_seconds: number | null;
  readonly marts: number;
  /** The snapshot they were built on; null: the tables in Postgres. */
  readonly snapshot_id: string | null;
  /** Status of the last build; null: there was none. */
  readonly status: RunStatus | null;
  readonly failure: string | null;
  readonly outcome: string | null;
}

export type MartsStatus = Readonly<Record<MartsTarget, TargetStatus>>;

export async function readMartsStatus({ db }: Warehouse): Promise<MartsStatus> {
  const { rows } = await sql<TargetStatus & { target: MartsTarget }>`
    select target, m.as_of_date, m.begun_at, m.built_at, coalesce(m.marts, 0) as marts, m.snapshot_id,
      greatest(0, extract(epoch from now() - m.built_at))::bigint as age_seconds, r.status, r.failure, r.outcome
    from (values ('postgres'), ('lake'), ('spark')) as targets (target)
    left join sync.marts m using (target)
    left join lateral (
      select status, failure, outcome from sync.runs
      where connection_id is null and kind = 'marts' and runs.target = targets.target
      order by started_at desc, run_id desc limit 1
    ) r on true
  `.execute(db);
  const {
    postgres = never,
    lake = never,
    spark = never,
  } = Object.fromEntries(rows.map(({ target, ...status }) => [target, status]));
  return { postgres, lake, spark };
}

const never: TargetStatus = {
  as_of_date: null,
  begun_at: null,
  built_at: null,
  age_seconds: null,
  marts: 0,
  snapshot_id: null,
  status: null,
  failure: null,
  outcome: null,
};
