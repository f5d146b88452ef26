import type { PoolClient } from 'pg';
import type { RecordScope } from '../record-scope.ts';

type Records = RecordScope & { readonly ids: readonly string[] };

/**
 * Lowers the newest version of these records in history to that of their rows. The service's clock was wrong and has been corrected: the content is
 * the same, so history gets no new row, and the old row must not claim to be newer. For a row that was lost and came again, nothing else has compared
 * the two.
 */
export async function lowerVersions(client: PoolClient, records: Records): Promise<void> {
  await moveVersions(client, records, { whichAre: '>' });
}

/**
 * Raises it: the row has moved on without new content, and has beaten a deletion that each read of the events announces again. A row rebuilt from
 * history must beat it too.
 */
export async function raiseVersions(client: PoolClient, records: Records): Promise<void> {
  await moveVersions(client, records, { whichAre: '<' });
}

async function moveVersions(
  client: PoolClient,
  { connectionId, resource, ids }: Records,
  { whichAre }: { whichAre: '>' | '<' },
): Promise<void> {
  if (ids.length === 0) return;
  await client.query(
    `with moved as materialized (select $1::text as connection_id, id from unnest($3::text[]) as page (id))
     update history.record_versions latest set last_synced_at = held.${resource.version}
     from moved
     join finance.${resource.name} held on held.connection_id = moved.connection_id and held.id = moved.id
     where latest.connection_id = moved.connection_id and latest.resource = $2 and latest.record_id = moved.id and latest.op = 'upsert'
       and latest.last_synced_at ${whichAre} held.${resource.version}
       and latest.recorded_at = (
         select max(v.recorded_at) from history.record_versions v
         where v.connection_id = $1 and v.resource = $2 and v.record_id = moved.id
       )`,
    [connectionId, resource.name, ids],
  );
}
