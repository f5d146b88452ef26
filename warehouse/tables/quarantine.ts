import type { Generated } from 'kysely';
import type { Time } from './database.ts';

export interface QuarantineTable {
  id: Generated<number>;
  connection_id: string;
  resource: string;
  stream: string;
  record_id: string | null;
  entry_key: string;
  reason: string;
  /** Text, not JSON: what Postgres refuses as JSON must be kept too. Empty once it was pruned. */
  payload: string;
  status: Generated<'open' | 'landed' | 'discarded'>;
  run_id: string;
  first_seen_at: Time;
  last_seen_at: Time;
  closed_at: Time | null;
  closed_why: string | null;
  discarded_content: Generated<string | null>;
}
