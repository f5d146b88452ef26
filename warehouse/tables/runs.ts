import type { Generated } from 'kysely';
import type { DefaultTime, Time } from './database.ts';
import type { MartsTarget } from './marts.ts';

export interface RunsTable {
  run_id: string;
  connection_id: string | null;
  kind: RunKind;
  status: RunStatus;
  workflow_id: string;
  temporal_run_id: string;
  reason: string;
  failure: string | null;
  outcome: Generated<string | null>;
  target: Generated<MartsTarget | null>;
  proved_token: string | null;
  started_at: DefaultTime;
  finished_at: Time | null;
  beat_at: Generated<Date | null>;
  timeline: Generated<string | null>;
}

export type RunKind =
  'sync' | 'reconcile' | 'backfill' | 'export' | 'marts' | 'replay' | 'rebuild' | 'erase' | 'webhook';

export type RunStatus =
  'running' | 'succeeded' | 'partial' | 'failed' | 'cancelled' | 'interrupted' | 'unsupported';
