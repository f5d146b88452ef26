import type { PoolClient } from 'pg';
import type { RunScope } from '../record-scope.ts';

/**
 * Counts records that a sync has changed without a waiting webhook about them: had one come in time, they would be unchanged. Counts nothing in a
 * first reading, for a connection that gets no webhooks, or for a resource that has none.
 */
export async function noteUnannounced(
  client: PoolClient,
  input: RunScope & {
    stream: string;
    changed: readonly { readonly id: string }[];
  },
): Promise<void> {
  const { connectionId, stream, runId, resource, changed } = input;
  if (changed.length === 0 || resource.webhookName === null) return;
  await client.query({
    name: 'note unannounced',
    text: `
      with changed as materialized (select $1::text as connection_id, id from unnest($5::text[]) as page (id)),
      unannounced as (
        select count(*) as records
        from changed
        where not exists (
          select from sync.webhook_inbox w
          where w.connection_id = changed.connection_id and w.resource = $4 and w.record_id = changed.id and w.status = 'waiting'
        )
      )
      update sync.run_streams r set unannounced = r.unannounced + u.records
      from unannounced u
      where r.run_id = $3 and r.stream = $2 and u.records > 0
        and exists (
          select from sync.passes p
          where p.connection_id = $1 and p.stream = $2 and p.kind = 'sync' and p.floor is not null
        )
        and exists (select from sync.webhook_inbox w where w.connection_id = $1)`,
    values: [connectionId, stream, runId, resource.name, changed.map(({ id }) => id)],
  });
}
