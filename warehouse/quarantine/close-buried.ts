import type { PoolClient } from 'pg';
import { microsecondsOf } from '../../resources/instant.ts';
import type { RecordScope } from '../record-scope.ts';
import { deletedAtSource } from './deleted-at-source.ts';
import { versionOfEntry } from './version-of-entry.ts';

/**
 * Closes what waits in quarantine of records that were deleted. An event tells of the past, and so does an answer that was in hand: a version
 * newer than it stays open, for the record lives again and nobody could store it. One that does not say how new it is stays open for an event;
 * other deletions were found by asking the service. A reconcile has seen to it that nothing met the record since it asked.
 */
export async function closeBuried(
  client: PoolClient,
  input: RecordScope & {
    landedAt: string;
    source: 'event' | 'webhook' | 'reconcile';
    deletions: readonly { readonly id: string; readonly version: string }[];
  },
): Promise<void> {
  const { connectionId, resource, landedAt, source, deletions } = input;
  const { rows } = await client.query<{ id: string; record_id: string; payload: string }>({
    name: 'read entries of buried',
    text: `
      select id::text as id, entry_key as record_id, payload
      from sync.quarantine
      where connection_id = $1 and resource = $2 and entry_key = any($3::text[]) and status = 'open'`,
    values: [connectionId, resource.name, deletions.map(({ id }) => id)],
  });
  const versions = new Map(deletions.map(({ id, version }) => [id, version]));
  const gone = rows.filter(({ record_id, payload }) => {
    if (source === 'reconcile') return true;
    const [kept, deleted] = [
      versionOfEntry(payload, resource),
      microsecondsOf(versions.get(record_id) ?? ''),
    ];
    if (kept === undefined) return source === 'webhook';
    return deleted === undefined || kept <= deleted;
  });
  if (gone.length === 0) return;
  await client.query({
    name: 'close entries of buried',
    text: `
      update sync.quarantine
      set status = 'discarded', closed_at = $2::timestamptz, closed_why = $3
      where id = any($1::bigint[]) and status = 'open'`,
    values: [gone.map(({ id }) => id), landedAt, deletedAtSource],
  });
}
