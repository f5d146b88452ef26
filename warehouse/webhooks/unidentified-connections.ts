import type { Warehouse } from '../open-warehouse.ts';

/** More connections do not wait for their first data at once, or can wait a little longer. */
const atMost = 50;

/** Reads connections of this API address whose company no response has named yet, the newest first. */
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
