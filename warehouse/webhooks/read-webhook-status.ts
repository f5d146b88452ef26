import type { Warehouse } from '../open-warehouse.ts';

/** The effect of webhooks on a connection. */
export interface WebhookStatus {
  /** Null: none has ever come. */
  last_received_at: Date | null;
  /** Number of webhooks to be applied. */
  waiting: number;
  /** Records that webhooks brought or deleted in the last 24 hours. */
  applied_24h: number;
  /** Records that a sync changed in that time without a webhook about them. */
  unannounced_24h: number;
}

/** Reads the status of some connections, or of all if null, by connection. */
export async function readWebhookStatus(
  { pool }: Pick<Warehouse, 'pool'>,
  connections: readonly string[] | null,
): Promise<Map<string, WebhookStatus>> {
  const { rows } = await pool.query<WebhookStatus & { connection_id: string }>(
    `
    select c.connection_id, inbox.last_received_at, coalesce(waiting.entries, 0) as waiting,
      coalesce(brought.applied, 0)::bigint as applied_24h, coalesce(changed.unannounced, 0)::bigint as unannounced_24h
    from sync.connections c
    left join lateral (
      select w.last_received_at from sync.webhook_inbox w
      where w.connection_id = c.connection_id
      order by w.last_received_at desc
      limit 1
    ) inbox on true
    left join lateral (
      select count(*) as entries from sync.webhook_inbox w
      where w.connection_id = c.connection_id and w.status = 'waiting'
    ) waiting on true
    left join lateral (
      select sum(s.inserted + s.updated + s.deleted) as applied
      from sync.runs r
      join sync.run_streams s using (run_id)
      where r.connection_id = c.connection_id and r.kind = 'webhook' and r.started_at > now() - interval '24 hours'
    ) brought on true
    left join lateral (
      -- Only syncs have any.
      select sum(s.unannounced) as unannounced from sync.run_streams s
      where s.connection_id = c.connection_id and s.unannounced > 0 and s.started_at > now() - interval '24 hours'
    ) changed on true
    where $1::text[] is null or c.connection_id = any($1)`,
    [connections],
  );
  return new Map(rows.map(({ connection_id, ...status }) => [connection_id, status]));
}

export const noWebhooks: WebhookStatus = {
  last_received_at: null,
  waiting: 0,
  applied_24h: 0,
  unannounced_24h: 0,
};
