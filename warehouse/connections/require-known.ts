import { UnknownConnection } from '../errors.ts';
import type { Warehouse } from '../open-warehouse.ts';

/** Throws UnknownConnection unless a connection has, or had, this name. Runs of a removed connection stay, so its name is known. */
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
