import type { Generated } from 'kysely';
import type { DefaultTime, Time } from './database.ts';
import type { RunStatus } from './runs.ts';

export interface RunStreamsTable {
  run_id: string;
  connection_id: string;
  stream: string;
  status: RunStatus | 'unsupported';
  pages: Generated<number>;
  requests: Generated<number>;
  read: Generated<number>;
  inserted: Generated<number>;
  updated: Generated<number>;
  unchanged: Generated<number>;
  deleted: Generated<number>;
  suppressed: Generated<number>;
  quarantined: Generated<number>;
  unannounced: Generated<number>;
  watermark_before: Time | null;
  watermark_after: Time | null;
  totals: unknown;
  failure_type: string | null;
  failure: string | null;
  started_at: DefaultTime;
  finished_at: Time | null;
}
