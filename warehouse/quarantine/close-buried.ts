import type { PoolClient } from 'pg';
import { microsecondsOf } from '../../resources/instant.ts';
import type { RecordScope } from '../record-scope.ts';
import { deletedAtSource } from './deleted-at-source.ts';

/**
 * Closes quarantine entries of records that were deleted. An event, or an answer that was in hand, may be outdated: an entry with a newer version
 * stays open, because the record lives again and could not be stored. An entry of unknown version stays open after an event; other deletions were
 * found by asking the service. A reconcile has made sure that nothing met the record since it asked.
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
