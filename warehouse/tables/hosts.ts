import type { DefaultTime, Time } from './database.ts';

export interface HostsTable {
  host_id: string;
  name: string;
  seen_at: DefaultTime;
  built_at: Time | null;
  clear_since: Time | null;
}
