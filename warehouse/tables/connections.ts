import type { Generated } from 'kysely';
import type { DefaultTime } from './database.ts';

export interface ConnectionsTable {
  connection_id: string;
  api_address: string;
  token_sealed: Buffer;
  service_connection_id: string | null;
  org_id: string | null;
  platform: string | null;
  expand_platform_data: Generated<boolean>;
  created_at: DefaultTime;
}
