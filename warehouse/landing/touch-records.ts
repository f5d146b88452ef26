import type { PoolClient } from 'pg';
import type { RecordScope } from '../record-scope.ts';
import type { PreparedRecord } from './prepared-page.ts';

/** Stores the newer version, and the text's hash, of records whose content is already held. */
export async function touchRecords(
  client: PoolClient,
  input: RecordScope & { records: readonly PreparedRecord[] },
): Promise<void> {
  const { connectionId, resource, records } = input;
  if (records.length === 0) return;
  await client.query({
    name: `touch ${resource.name}`,
    text: `
      with arriving as materialized (
        select $1::text as connection_id, * from unnest($2::text[], $3::timestamptz[], $4::bytea[]) as page (id, version, hash)
      )
      update finance.${resource.name} held
      set ${resource.version} = arriving.version, _content_hash = arriving.hash
      from arriving
      where held.connection_id = arriving.connection_id and held.id = arriving.id`,
    values: [
      connectionId,
      records.map(({ id }) => id),
      records.map(({ version }) => version),
      records.map(({ hash }) => hash),
    ],
  });
}
