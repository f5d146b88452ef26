import { sql } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';

/** A webhook in the inbox, without its body. */
export interface WebhookListed {
  id: number;
  connection_id: string | null;
  type: string;
  code: string;
  resource: string | null;
  record_id: string | null;
  status: 'waiting' | 'applied' | 'ignored';
  outcome: string | null;
  deliveries: number;
  tries: number;
  run_id: string | null;
  received_at: Date;
  closed_at: Date | null;
}

/** Lists webhooks, the newest first. */
export function listWebhooks(
  { db }: Warehouse,
  input: {
    connectionId?: string | undefined;
    status?: WebhookListed['status'] | undefined;
    /** Only webhooks with lower numbers. */
    before?: number | undefined;
    limit: number;
  },
): Promise<WebhookListed[]> {
  let query = db.selectFrom('sync.webhook_inbox').select(columns).orderBy('id', 'desc').limit(input.limit);
  if (input.connectionId !== undefined) query = query.where('connection_id', '=', input.connectionId);
  if (input.status !== undefined) query = query.where('status', '=', input.status);
  if (input.before !== undefined) query = query.where('id', '<', input.before);
  return query.execute();
}

/** Types and codes of the document are short. An unknown one may be as long as a webhook, and nobody reads more of it. */
const columns = [
  ...(['type', 'code'] as const).map((name) => sql<string>`left(${sql.ref(name)}, 100)`.as(name)),
  'id',
  'connection_id',
  'resource',
  'record_id',
  'status',
  'outcome',
  'deliveries',
  'tries',
  'run_id',
  'received_at',
  'closed_at',
] as const;
