import type { Generated } from 'kysely';
import type { Time } from './database.ts';

export interface StreamsTable {
  connection_id: string;
  stream: string;
  resource: string;
  capability: Generated<'unknown' | 'supported' | 'unsupported'>;
  capability_checked_at: Time | null;
  listed_at: Time | null;
  missing_since: Time | null;
  missing_at: Time | null;
  watermark: Time | null;
  cursor: string | null;
  last_success_at: Time | null;
  last_reconcile_at: Time | null;
  reconcile_wanted_at: Time | null;
  reconcile_not_before: Time | null;
  ahead_version: Time | null;
  ahead_record_id: string | null;
  ahead_noted_at: Time | null;
  service_time: Time | null;
  service_time_noted_at: Time | null;
  stalled_at: Time | null;
}
