import type { Warehouse } from '../open-warehouse.ts';

export interface ConnectionListed {
  connection_id: string;
  platform: string | null;
  org_id: string | null;
  api_address: string;
  expand_platform_data: boolean;
  created_at: Date;
}

export function listConnections({ db }: Warehouse): Promise<ConnectionListed[]> {
  return db
    .selectFrom('sync.connections')
    .select(['connection_id', 'platform', 'org_id', 'api_address', 'expand_platform_data', 'created_at'])
    .orderBy('connection_id')
    .execute();
}
