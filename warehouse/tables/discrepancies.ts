import type { Generated } from 'kysely';
import type { DefaultTime, Time } from './database.ts';

export interface DiscrepanciesTable {
  id: Generated<number>;
  connection_id: string;
  resource: string;
  record_id: string;
  kind: 'missing' | 'stale' | 'damaged' | 'extra' | 'ahead';
  status: 'checking' | 'confirmed' | 'repaired' | 'dismissed';
  version: Time | null;
  run_id: string;
  found_at: DefaultTime;
  closed_at: Time | null;
  closed_why: string | null;
  gone_by: Time | null;
  shown_version: Time | null;
  shown_hash: Buffer | null;
  shown_by: string | null;
  shown_at: Time | null;
  failing_since: Time | null;
  met_at: Time | null;
}
