import type { PoolClient } from 'pg';
import type { Resource } from '../../resources/resource.ts';
import type { PreparedRecord } from './prepared-page.ts';

/**
 * What a good record settles: the tombstone it is newer than, the quarantine entry of an earlier bad version, the field
 * issues of the content it replaces.
 */
export async function settleRecords(
  client: PoolClient,
  input: {
    connectionId: string;
    resource: Resource;
    landedAt: string;
    written: readonly PreparedRecord[];
    known: readonly PreparedRecord[];
  },
): Promise<void> {
  const { connectionId, resource, landedAt, written, known } = input;
  const writtenIds = written.map(({ id }) => id);
  await client.query({
    name: 'settle records',
    text: settleSql,
    values: [
      connectionId,
      resource.name,
      writtenIds,
      [...writtenIds, ...known.map(({ id }) => id)],
      landedAt,
    ],
  });
}

const settleSql = `
  with tombstones as (
    delete from sync.tombstones where connection_id = $1 and resource = $2 and record_id = any($3::text[])
  ), issues as (
    delete from sync.field_issues where connection_id = $1 and resource = $2 and record_id = any($3::text[])
  )
  update sync.quarantine
  set status = 'landed', closed_at = $5, closed_why = 'a good version arrived'
  where connection_id = $1 and resource = $2 and entry_key = any($4::text[]) and status = 'open'`;
