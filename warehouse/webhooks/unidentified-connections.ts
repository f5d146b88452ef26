import type { Warehouse } from '../open-warehouse.ts';

/** More are not waiting for their first data at once, or can wait a little longer. */
const atMost = 50;

/** Connections of this API address for which no answer has told who they are, the newest first. */
export async function unidentifiedConnections({ db }: Warehouse, apiAddress: string): Promise<string[]> {
  const rows = await db
    .selectFrom('sync.connections')
    .select('connection_id')
    .where('api_address', '=', apiAddress)
    .where('service_connection_id', 'is', null)
    .orderBy('created_at', 'desc')
    .limit(atMost)
    .execute();
  return rows.map(({ connection_id }) => connection_id);
}
