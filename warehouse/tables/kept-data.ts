import type { DefaultTime } from './database.ts';

export interface KeptDataTable {
  connection_id: string;
  api_address: string;
  service_connection_id: string | null;
  org_id: string | null;
  platform: string | null;
  removed_at: DefaultTime;
}
