import type { Warehouse } from '../open-warehouse.ts';
import type { MartsTarget } from '../tables/marts.ts';

/** Makes readers see no marts of this target any more. Returns whether they saw any. */
export async function forgetMarts({ pool }: Warehouse, target: MartsTarget): Promise<boolean> {
  const { rowCount } = await pool.query('delete from sync.marts where target = $1', [target]);
  return rowCount === 1;
}
