import type { PoolClient } from 'pg';
import { microsecondsOf } from '../../resources/instant.ts';
import type { RecordScope } from '../record-scope.ts';
import { deletedAtSource } from './deleted-at-source.ts';

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
  await client.query({
    name: 'close entries of buried',
    text: `
      with deletion as materialized (
        select $1::text as connection_id, * from unnest($3::text[], $4::bigint[]) as page (id, version_us)
      )
      update sync.quarantine q
      set status = 'discarded', closed_at = $5::timestamptz, closed_why = $6
      from deletion
      where q.connection_id = deletion.connection_id and q.resource = $2 and q.entry_key = deletion.id and q.status = 'open'
        and case
          when $7 = 'reconcile' then true
          when q.version_us is null then $7 = 'webhook'
          else coalesce(q.version_us <= deletion.version_us, true)
        end`,
    values: [
      connectionId,
      resource.name,
      deletions.map(({ id }) => id),
      deletions.map(({ version }) => microsecondsOf(version) ?? null),
      landedAt,
      deletedAtSource,
      source,
    ],
  });
}
