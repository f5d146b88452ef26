import type { DefaultTime, Time } from './database.ts';

export interface MartsTable {
  target: MartsTarget;
  run_id: string;
  as_of_date: string;
  snapshot_id: string | null;
  marts: number;
  begun_at: Time;
  built_at: DefaultTime;
}

/** The database or engine in which marts are built. */
export type MartsTarget = 'postgres' | 'lake' | 'spark';
