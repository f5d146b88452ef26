import { resourceNamed } from '../../resources/index.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { wantReconcilesWith } from '../reconcile/want-reconcile.ts';
import { isDeletion } from './waiting-webhooks.ts';

/**
 * Gives a connection the webhooks that came before its company was known, and were ignored: they wait now. A deletion that does not name its record
 * requests a reconcile.
 */
export async function adoptWebhooks({ pool }: Warehouse, connectionId: string): Promise<void> {
  const { rows } = await pool.query<{ id: string; resource: string; nameless: boolean }>({
    name: 'read webhooks of nobody',
    text: `
      select w.id::text as id, w.resource, w.record_id is null and ${isDeletion('w')} as nameless
      from sync.webhook_inbox w
      join sync.connections c on c.service_connection_id = w.service_connection_id
      where c.connection_id = $1 and w.connection_id is null and w.resource is not null and w.status = 'ignored'`,
    values: [connectionId],
  });
  if (rows.length === 0) return;
  const asking = new Set(rows.flatMap(({ resource, nameless }) => (nameless ? [resource] : [])));
  const wanted = [...asking].map((name) => ({ connectionId, resource: resourceNamed(name) }));
  await wantReconcilesWith(pool, wanted, async (client) => {
    await client.query({
      name: 'adopt webhooks',
      text: `
      update sync.webhook_inbox w set
        connection_id = c.connection_id,
        status = case when w.record_id is null then w.status else 'waiting' end,
        outcome = case when w.record_id is null then 'it does not say which record, or by an id that is no key' end,
        closed_at = case when w.record_id is null then w.closed_at end
      from sync.connections c
      where c.connection_id = $1 and w.connection_id is null and w.id = any($2::bigint[])`,
      values: [connectionId, rows.map(({ id }) => id)],
    });
  });
}
