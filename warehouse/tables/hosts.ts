import type { DefaultTime, Time } from './database.ts';

export interface HostsTable {
  host_id: string;
  name: string;
  seen_at: DefaultTime;
  clear_since: Time | null;
}
