import type { PoolClient } from 'pg';
import type { RecordScope } from '../record-scope.ts';
import type { PreparedRecord } from './prepared-page.ts';

/**
 * Finds, among records whose text differs from the one held, those with the same content, and returns their IDs. A service may send the fields of a
 * record in another order, or with other spaces; `jsonb` has one order, and keeps every digit.
 */
export async function sameContent(
  client: PoolClient,
  input: RecordScope & { records: readonly PreparedRecord[] },
): Promise<Set<string>> {
  if (input.records.length === 0) return new Set();
  const { rows } = await client.query<{ id: string }>({
    name: 'same content',
    text: sameContentSql,
    values: [input.connectionId, input.resource.name, `[${input.records.map(({ text }) => text).join(',')}]`],
  });
  return new Set(rows.map(({ id }) => id));
}

const sameContentSql = `
  select arriving.record ->> 'id' as id
  from jsonb_array_elements($3::jsonb) as arriving (record)
  cross join lateral (
    select v.payload, v.op
    from history.record_versions v
    where v.connection_id = $1 and v.resource = $2 and v.record_id = arriving.record ->> 'id'
    order by v.recorded_at desc
    limit 1
  ) latest
  where latest.op = 'upsert'
    and (latest.payload - 'last_synced_at')::text = (arriving.record - 'last_synced_at')::text`;
