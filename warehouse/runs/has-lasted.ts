import type { Warehouse } from '../open-warehouse.ts';

/** Whether a run began longer ago than so many milliseconds, by the clock of Postgres, which wrote when it began. */
export async function hasLasted(
  { pool }: Pick<Warehouse, 'pool'>,
  { runId, milliseconds }: { runId: string; milliseconds: number },
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `select from sync.runs where run_id = $1 and started_at < clock_timestamp() - $2 * interval '1 millisecond'`,
    [runId, milliseconds],
  );
  return rowCount !== 0;
}
