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
  /** Text, not JSON: what Postgres refuses as JSON must be kept too. Empty after pruning. */
  payload: string;
  status: Generated<'open' | 'landed' | 'discarded'>;
  run_id: string;
  first_seen_at: Time;
  last_seen_at: Time;
  closed_at: Time | null;
  closed_why: string | null;
  discarded_content: Generated<string | null>;
  /** Hash of the content. Null: from a release before 0.6, and not met again since. */
  content: string | null;
  /** Microseconds of the version that the record states: a bigint, which pg reads as text. Null: it states no valid time. */
  version_us: string | null;
}
