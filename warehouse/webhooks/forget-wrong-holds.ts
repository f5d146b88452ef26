import type { Warehouse } from '../open-warehouse.ts';

/**
 * Clears holds of webhooks that last longer than any hold that is set: an hour for a connection, 15 minutes (the longest `Retry-After` that
 * counts) for an entry. They were written while the clock of Postgres was ahead, and would last for as long as that clock was wrong.
 */
export async function forgetWrongHolds({ pool }: Pick<Warehouse, 'pool'>): Promise<void> {
  await pool.query({
    name: 'forget wrong holds',
    text: `
      with connections as (
        update sync.connections set webhooks_after = null
        where webhooks_after > clock_timestamp() + interval '1 hour'
      )
      update sync.webhook_inbox set try_after = null
      where status = 'waiting' and try_after > clock_timestamp() + interval '15 minutes'`,
  });
}
