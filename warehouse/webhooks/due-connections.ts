import type { Warehouse } from '../open-warehouse.ts';

/** Enough for a sweep; connections that are left out have the same chance the next time. */
const atOnce = 100;

/** Reads connections of this API address whose webhooks wait and may be applied now. */
export async function dueConnections({ pool }: Warehouse, apiAddress: string): Promise<string[]> {
  const { rows } = await pool.query<{ connection_id: string }>({
    name: 'due connections',
    text: `
      select c.connection_id
      from sync.connections c
      where c.api_address = $1 and exists (
        select from sync.webhook_inbox w
        where w.connection_id = c.connection_id and w.status = 'waiting' and ${isDue}
      )
      order by random()
      limit $2`,
    values: [apiAddress, atOnce],
  });
  return rows.map(({ connection_id }) => connection_id);
}

/** Condition on an entry `w` of a connection `c`: a pause, whoever made it, holds back everything that a person does not request. */
export const isDue = `c.paused_at is null
  and coalesce(c.webhooks_after <= now(), true) and coalesce(w.try_after <= now(), true)`;
