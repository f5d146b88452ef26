import type { Generated } from 'kysely';
import type { DefaultTime, Time } from './database.ts';

export interface PassesTable {
  connection_id: string;
  stream: string;
  kind: PassKind;
  part: Generated<string>;
  run_id: string;
  lease: string;
  floor: Time | null;
  ceiling: Time | null;
  cursor: string | null;
  highest_seen: Time | null;
  pages: Generated<number>;
  restarts: Generated<number>;
  failing_since: Time | null;
  started_at: DefaultTime;
  listing: Generated<number>;
  completed_at: Time | null;
  served_from: Time | null;
  served_until: Time | null;
  stood_still_in: string | null;
  cursor_mark: string | null;
  asked_at: Time | null;
  answered_from: Time | null;
  answered_at: Time | null;
  answered_before: Time | null;
  stood_still_seconds: Generated<number>;
  begun_again: Generated<number>;
  read_up_to: Time | null;
  out_of_order: Generated<boolean>;
  empty_pages: Generated<number>;
}

export type PassKind = 'sync' | 'reconcile' | 'backfill';
