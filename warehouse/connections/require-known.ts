import { UnknownConnection } from '../errors.ts';
import type { Warehouse } from '../open-warehouse.ts';

/** A name that a connection has, or had: of one that was removed the runs stay. Throws UnknownConnection. */
export async function requireKnown({ pool }: Warehouse, connectionId: string): Promise<void> {
  const { rowCount } = await pool.query(
    `select from sync.connections where connection_id = $1
     union all
     select from sync.kept_data where connection_id = $1
     union all
     select from sync.runs where connection_id = $1
     limit 1`,
    [connectionId],
  );
  if (rowCount === 0) throw new UnknownConnection(connectionId);
}
