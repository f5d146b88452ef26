import type { Resource } from '../../resources/resource.ts';
import type { Warehouse } from '../open-warehouse.ts';

/** Ids of some records that `finance` holds. */
export async function heldIds(
  { pool }: Pick<Warehouse, 'pool'>,
  { connectionId, resource }: { connectionId: string; resource: Resource },
): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `select id from finance.${resource.name} where connection_id = $1 order by id limit 10`,
    [connectionId],
  );
  return rows.map(({ id }) => id);
}
