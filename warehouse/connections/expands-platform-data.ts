import type { PoolClient } from 'pg';

/** Whether lists are asked for `platform_data`, which fetches never bring. */
export async function expandsPlatformData(client: PoolClient, connectionId: string): Promise<boolean> {
  const { rowCount } = await client.query(
    'select from sync.connections where connection_id = $1 and expand_platform_data',
    [connectionId],
  );
  return rowCount !== 0;
}
