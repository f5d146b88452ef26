import { stale } from '../connections/stale.ts';
import type { Warehouse } from '../open-warehouse.ts';

/** Reads the names of the connections that are stale as far as the database knows. */
export async function readStaleConnections({ db }: Warehouse): Promise<string[]> {
  const connections = await db
    .selectFrom('sync.connections')
    .select('connection_id')
    .where(stale)
    .orderBy('connection_id')
    .execute();
  return connections.map(({ connection_id }) => connection_id);
}
