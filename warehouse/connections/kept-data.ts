import { sql, type RawBuilder } from 'kysely';
import type { Warehouse } from '../open-warehouse.ts';

/** Records under a name that no connection has now. */
export interface KeptData {
  connection_id: string;
  /** The company's identity. It and all that follows are null if a release before 0.6.0, which did not keep them, removed the connection. */
  api_address: string | null;
  service_connection_id: string | null;
  org_id: string | null;
  platform: string | null;
  removed_at: Date | null;
}

/** Reads what `connection remove --keep-data` left, under every name or under one. Removals that are not over are left out. */
export async function readKeptData(
  { db }: Pick<Warehouse, 'db'>,
  connectionId?: string,
): Promise<KeptData[]> {
  const { rows } = await sql<KeptData>`
    with recursive
      copied as (${namesIn('copied', 'history.record_versions')}),
      deleted as (${namesIn('deleted', 'sync.tombstones')})
    select named.connection_id, kept.api_address, kept.service_connection_id, kept.org_id, kept.platform,
      kept.removed_at
    from (select connection_id from copied union select connection_id from deleted) as named
    left join sync.kept_data kept using (connection_id)
    where named.connection_id is not null
      and not exists (select from sync.all_connections c where c.connection_id = named.connection_id)
    order by named.connection_id
  `.execute(db);
  return connectionId === undefined ? rows : rows.filter((row) => row.connection_id === connectionId);
}

/** Returns SQL for the distinct names, with one index lookup each, however many rows they have. The last one is null. */
function namesIn(names: string, table: string): RawBuilder<unknown> {
  return sql`
        select min(connection_id) as connection_id from ${sql.table(table)}
        union all
        select (select min(t.connection_id) from ${sql.table(table)} t where t.connection_id > ${sql.table(names)}.connection_id)
        from ${sql.table(names)}
        where connection_id is not null`;
}
