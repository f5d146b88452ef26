import type { Generated } from 'kysely';
import type { DefaultTime, Interval, Time } from './database.ts';

/** `sync.connections`: connections that are not being removed. */
export interface ConnectionsTable {
  connection_id: string;
  api_address: string;
  token_sealed: Buffer;
  service_connection_id: string | null;
  org_id: string | null;
  platform: string | null;
  expand_platform_data: Generated<boolean>;
  created_at: DefaultTime;
  sync_every: Interval | null;
  reconcile_every: Interval | null;
  backfill_every: Interval | null;
  backfill_last: Interval | null;
  paused_at: Time | null;
  paused_why: string | null;
  paused_by: 'person' | 'daybook' | null;
  pause_reached_schedules: Generated<boolean>;
  failures: Generated<number>;
  failed_run_id: string | null;
  webhooks_after: Time | null;
  refused_token: string | null;
  schedules_settled: string | null;
  schedules_checked_at: Time | null;
  ticks_missed: number | null;
  ticks_missed_at: Time | null;
  sync_stretch: Generated<number>;
}

/** `sync.all_connections`: the same, with those that are being removed. */
export interface AllConnectionsTable extends ConnectionsTable {
  removing_at: Time | null;
  removing_keeps_data: Generated<boolean>;
  removing_found_no_data: Generated<boolean>;
}
