import type { Generated } from 'kysely';
import type { DefaultTime, Time } from './database.ts';

export interface AlertsTable {
  id: Generated<number>;
  kind: AlertKind;
  connection_id: string | null;
  message: string;
  remedy: string;
  opened_at: DefaultTime;
  resolved_at: Time | null;
  open_sent_at: Time | null;
  resolved_sent_at: Time | null;
  tries: Generated<number>;
  try_after: Time | null;
}

export const alertKinds = [
  'failed',
  'paused',
  'stale',
  'stalled',
  'unsupported',
  'approval',
  'quarantine',
  'webhooks',
  'stuck',
  'missed',
  'backlog',
  'export',
  'marts',
] as const;

export type AlertKind = (typeof alertKinds)[number];
