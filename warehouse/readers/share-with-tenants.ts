import type { Warehouse } from '../open-warehouse.ts';
import { takingLocks } from '../transactions/taking-locks.ts';

/**
 * Opens `finance` and `history` to readers of some connections, limited to these, and the published marts once there is such a reader; each
 * publication does the same for its marts. Returns whether the server has their role, `daybook_tenant`: without it nothing is open to them.
 * Idempotent. Throws LockHeld.
 */
export async function shareWithTenants({ pool }: Warehouse): Promise<boolean> {
  const client = await pool.connect();
  try {
    return await takingLocks(client, { what: 'Sharing with readers of some connections' }, async () => {
      await client.query(`select sync.lock('readers')`);
      const { rows } = await client.query<{ has_role: boolean }>(
        'select sync.share_with_tenants() as has_role',
      );
      // A restore without privileges leaves views that check the caller's rights, on tables that nobody may read.
      await client.query(
        `select sync.share_marts(value) from sync.settings
         where name = 'marts_schema' and exists (
           select from pg_class
           where relnamespace = 'marts'::regnamespace and relkind = 'v' and 'security_invoker=true' = any (reloptions)
         )`,
      );
      return rows[0]?.has_role === true;
    });
  } finally {
    client.release();
  }
}
