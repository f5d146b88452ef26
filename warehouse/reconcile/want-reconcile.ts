import type { PoolClient } from 'pg';
import type { Warehouse } from '../open-warehouse.ts';
import type { RecordScope } from '../record-scope.ts';

/** Marks a resource for a reconcile, which will find out what is gone. Cleared by a completed one. */
export async function wantReconcile(
  client: PoolClient | Warehouse['pool'],
  { connectionId, resource }: RecordScope,
): Promise<void> {
  await client.query(
    `update sync.streams set reconcile_wanted_at = coalesce(reconcile_wanted_at, greatest(clock_timestamp(), (
       select landed_at + interval '1 microsecond' from sync.resource_clocks
       where connection_id = $1 and resource = $2
     )))
     where connection_id = $1 and resource = $2`,
    [connectionId, resource.name],
  );
}
