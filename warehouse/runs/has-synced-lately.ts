import type { Warehouse } from '../open-warehouse.ts';

/** Whether a sync of the connection that began within the last five minutes got through, wholly or in part. */
export async function hasSyncedLately({ pool }: Warehouse, connectionId: string): Promise<boolean> {
  const { rowCount } = await pool.query(
    `select from sync.runs
     where connection_id = $1 and kind = 'sync' and status in ('succeeded', 'partial')
       and started_at > clock_timestamp() - interval '5 minutes'
     limit 1`,
    [connectionId],
  );
  return rowCount !== 0;
}
