import type { Warehouse } from '../open-warehouse.ts';

/**
 * Whether webhooks were refused within the last five minutes and a sync that began after that got through. Then another sync would get through
 * too, and the webhooks would be refused again.
 */
export async function hasSyncedSinceRefusal({ pool }: Warehouse, connectionId: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    `select from sync.runs refused join sync.runs synced using (connection_id)
     where connection_id = $1
       and refused.kind = 'webhook' and refused.status in ('failed', 'partial')
       and refused.started_at > clock_timestamp() - interval '5 minutes'
       and synced.kind = 'sync' and synced.status in ('succeeded', 'partial')
       and synced.started_at > refused.started_at
     limit 1`,
    [connectionId],
  );
  return rowCount !== 0;
}
