import type { Generated } from 'kysely';
import type { DefaultTime, Time } from './database.ts';

export interface PassesTable {
  connection_id: string;
  stream: string;
  kind: PassKind;
  run_id: string;
  lease: string;
  floor: Time | null;
  cursor: string | null;
  highest_seen: Time | null;
  pages: Generated<number>;
  restarts: Generated<number>;
  failing_since: Time | null;
  started_at: DefaultTime;
}

export type PassKind = 'sync' | 'reconcile' | 'backfill';
