import type { PoolClient } from 'pg';
import { resources } from '../../resources/index.ts';
import type { Warehouse } from '../open-warehouse.ts';
import type { RecordScope } from '../record-scope.ts';

/**
 * Marks a resource for a reconcile, which will find out what is gone. Cleared by a completed one that began to list it after the
 * latest wish, and has decided about every record.
 */
export async function wantReconcile(
  client: PoolClient | Warehouse['pool'],
  { connectionId, resource }: RecordScope,
): Promise<void> {
  await client.query(
    `update sync.streams set
       reconcile_wanted_at = greatest(reconcile_wanted_at, clock_timestamp(), (
         select landed_at + interval '1 microsecond' from sync.resource_clocks
         where connection_id = $1 and resource = $2
       )),
       reconcile_not_before = null
     where connection_id = $1 and resource = $2`,
    [connectionId, resource.name],
  );
}

/**
 * Wants a reconcile of lists that a sync asks by the platform's times, and has read before, or begun to: the service has copied another
 * batch of the past (API document 7), which comes with times that are long read.
 */
export async function wantHistory({ pool }: Pick<Warehouse, 'pool'>, connectionId: string): Promise<void> {
  for (const resource of resources.filter(({ version }) => version !== 'last_synced_at')) {
    const { rowCount } = await pool.query(
      `select from sync.streams s
       where connection_id = $1 and resource = $2 and (watermark is not null or exists (
         select from sync.passes p where p.connection_id = s.connection_id and p.stream = s.stream and p.kind = 'sync'
       ))`,
      [connectionId, resource.name],
    );
    if (rowCount !== 0) await wantReconcile(pool, { connectionId, resource });
  }
}
