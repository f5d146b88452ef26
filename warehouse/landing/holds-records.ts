import type { Warehouse } from '../open-warehouse.ts';
import type { RecordScope } from '../record-scope.ts';
import type { PreparedRecord } from './prepared-page.ts';

/** Whether `finance` holds each of the records with the same content: landing them again would write none of it. */
export async function holdsRecords(
  { pool }: Pick<Warehouse, 'pool'>,
  { connectionId, resource, records }: RecordScope & { readonly records: readonly PreparedRecord[] },
): Promise<boolean> {
  const { rows } = await pool.query<{ holds: boolean }>({
    name: `holds ${resource.name}`,
    text: `
      select count(*) = cardinality($2::text[]) as holds
      from unnest($2::text[], $3::bytea[]) as arriving (id, hash)
      join lateral (
        select from finance.${resource.name} f
        where f.connection_id = $1 and f.id = arriving.id and f._content_hash = arriving.hash
        offset 0
      ) held on true`,
    values: [connectionId, records.map(({ id }) => id), records.map(({ hash }) => hash)],
  });
  return rows[0]?.holds === true;
}
