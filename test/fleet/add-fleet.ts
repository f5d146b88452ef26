import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { testApiAddress } from '../support/test-connection.ts';

/** Adds connections `co-00000`, `co-00001` …, with a schedule, that were completely read just now. Their tokens do not work. */
export async function addFleet(
  { pool }: Warehouse,
  {
    connections,
    from = 0,
    apiAddress = testApiAddress,
  }: { connections: number; from?: number; apiAddress?: string },
): Promise<string[]> {
  const { rows } = await pool.query<{ connection_id: string }>(
    `insert into sync.connections (connection_id, api_address, token_sealed, platform, sync_every, reconcile_every)
     select 'co-' || lpad(n::text, 5, '0'), $3, '', 'XERO', interval '15 minutes', interval '1 day'
     from generate_series($1::int, $1::int + $2::int - 1) n
     returning connection_id`,
    [from, connections, apiAddress],
  );
  const names = rows.map(({ connection_id }) => connection_id).sort();
  await pool.query(
    `insert into sync.streams (connection_id, stream, resource, capability, watermark, last_success_at)
     select connection_id, stream, stream, 'supported', now(), now()
     from unnest($1::text[]) connection_id, unnest(array['bills', 'customers', 'items']) stream`,
    [names],
  );
  return names;
}
