import { resourceNamed } from '../../resources/index.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { wantReconcile } from '../reconcile/want-reconcile.ts';
import { isDeletion } from './waiting-webhooks.ts';

/**
 * Gives a connection the webhooks that came before anybody knew which company it is, and were ignored as nobody's: they wait now. A
 * deletion that does not say of which record asks for a reconcile. Done twice it finds nothing.
 */
export async function adoptWebhooks({ pool }: Warehouse, connectionId: string): Promise<void> {
  const { rows } = await pool.query<{ resource: string; nameless: boolean }>({
    name: 'adopt webhooks',
    text: `
      update sync.webhook_inbox w set
        connection_id = c.connection_id,
        (status, outcome, closed_at) = (
          select 'waiting', null::text, null::timestamptz where w.record_id is not null
          union all
          select w.status, 'it does not say which record, or by an id that is no key', w.closed_at where w.record_id is null
        )
      from sync.connections c
      where c.connection_id = $1 and w.connection_id is null and w.service_connection_id = c.service_connection_id
        and w.resource is not null and w.status = 'ignored'
      returning w.resource, w.record_id is null and ${isDeletion('w')} as nameless`,
    values: [connectionId],
  });
  const asking = new Set(rows.flatMap(({ resource, nameless }) => (nameless ? [resource] : [])));
  for (const resource of asking)
    await wantReconcile(pool, { connectionId, resource: resourceNamed(resource) });
}
