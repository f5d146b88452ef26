import type { ClientBase } from 'pg';
import type { Lake } from '../lake/lake.ts';

/** Whether there are Iceberg tables in the catalog, or files that a lost catalog named. */
export async function hasTables(client: Pick<ClientBase, 'query'>, lake: Lake): Promise<boolean> {
  const { rows } = await client.query('select from iceberg.iceberg_tables limit 1');
  return rows.length > 0 || (await lake.hasFilesIn('iceberg'));
}
