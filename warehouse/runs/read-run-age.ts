import type { Warehouse } from '../open-warehouse.ts';

/** Returns how long ago a run began, in milliseconds by the clock of Postgres, which wrote when it began. */
export async function readRunAge({ pool }: Pick<Warehouse, 'pool'>, runId: string): Promise<number> {
  const { rows } = await pool.query<{ age_ms: number }>(
    'select (extract(epoch from clock_timestamp() - started_at) * 1000)::bigint as age_ms from sync.runs where run_id = $1',
    [runId],
  );
  return rows[0]?.age_ms ?? 0;
}
