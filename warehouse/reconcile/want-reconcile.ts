import type { PoolClient } from 'pg';
import { resources } from '../../resources/index.ts';
import { inTransaction } from '../transactions/in-transaction.ts';
import type { Warehouse } from '../open-warehouse.ts';
import type { RecordScope } from '../record-scope.ts';

/**
 * Marks a resource for a reconcile, which will find out what is gone. The mark is cleared by a completed reconcile that began to list after the
 * latest request and has decided about every record.
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
 * Runs `work`, which closes the reason for the requests, in the same commit as the requests. Otherwise a standby that takes over may have one without
 * the other.
 */
export async function wantReconcilesWith(
  pool: Warehouse['pool'],
  wanted: readonly RecordScope[],
  work: (client: PoolClient) => Promise<void>,
): Promise<void> {
  await inTransaction(pool, async ({ client }) => {
    for (const scope of wanted) await wantReconcile(client, scope);
    await work(client);
  });
}

/**
 * Returns the resources that need a reconcile once the service has copied another batch of the past (API document 7), which comes with times already
 * read: those that a sync requests by the platform's times, and has read before, or begun to.
 */
export async function resourcesOfHistory(
  { pool }: Warehouse,
  connectionId: string,
): Promise<readonly RecordScope[]> {
  const { rows } = await pool.query<{ resource: string }>(
    `select distinct resource from sync.streams s
     where connection_id = $1 and (watermark is not null or exists (
       select from sync.passes p where p.connection_id = s.connection_id and p.stream = s.stream and p.kind = 'sync'
     ))`,
    [connectionId],
  );
  const read = rows.map(({ resource }) => resource);
  return resources
    .filter(({ name, version }) => version !== 'last_synced_at' && read.includes(name))
    .map((resource) => ({ connectionId, resource }));
}
