import type { Warehouse } from '../open-warehouse.ts';
import type { RecordScope } from '../record-scope.ts';

/** Reads the IDs of up to ten records that `finance` holds. */
export async function heldIds(
  { pool }: Pick<Warehouse, 'pool'>,
  { connectionId, resource }: RecordScope,
): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `select id from finance.${resource.name} where connection_id = $1 order by id limit 10`,
    [connectionId],
  );
  return rows.map(({ id }) => id);
}
