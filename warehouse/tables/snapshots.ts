import type { DefaultTime, Time } from './database.ts';

export interface SnapshotsTable {
  snapshot_id: string;
  run_id: string;
  lake: string;
  taken_at: Time;
  published_at: DefaultTime;
  rows: number;
  bytes: number;
  unfit: number;
  manifest_sha256: string;
  mark: string;
  removed_at: Time | null;
  parts: number | null;
  parts_added: number | null;
  bytes_added: number | null;
}
