import type { Generated } from 'kysely';
import type { DefaultTime, Time } from './database.ts';

export interface WebhookInboxTable {
  id: Generated<number>;
  digest: string;
  service_connection_id: string | null;
  connection_id: string | null;
  type: string;
  code: string;
  resource: string | null;
  record_id: string | null;
  version: Time | null;
  payload: unknown;
  status: Generated<'waiting' | 'applied' | 'ignored'>;
  outcome: string | null;
  deliveries: Generated<number>;
  tries: Generated<number>;
  try_after: Time | null;
  run_id: string | null;
  received_at: DefaultTime;
  last_received_at: DefaultTime;
  closed_at: Time | null;
}
