import type { PoolClient } from 'pg';
import type { RecordScope } from '../record-scope.ts';

/**
 * Notes the held versions of records that an older version is about to replace: the clock that gave them was wrong. Each read of the events repeats a
 * deletion that they had beaten, and nothing held would beat it any more.
 */
export async function noteOverruled(
  client: PoolClient,
  { connectionId, resource, ids }: RecordScope & { readonly ids: readonly string[] },
): Promise<void> {
  if (ids.length === 0) return;
  await client.query({
    name: `note overruled ${resource.name}`,
    text: `
      insert into sync.overruled_deletions as known (connection_id, resource, record_id, versions, until)
      select $1, $2, id, '{}', ${resource.version}
      from finance.${resource.name}
      where connection_id = $1 and id = any($3::text[])
      on conflict (connection_id, resource, record_id) do update set until = greatest(known.until, excluded.until)`,
    values: [connectionId, resource.name, ids],
  });
}
