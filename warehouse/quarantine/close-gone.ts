import type { PoolClient } from 'pg';
import type { RecordScope } from '../record-scope.ts';
import { deletedAtSource } from './deleted-at-source.ts';

/**
 * Closes quarantine entries of records that never landed and that this reconcile confirmed to be gone. A record that was met again since lives again.
 */
export async function closeGone(
  client: PoolClient,
  input: RecordScope & {
    landedAt: string;
    gone: readonly { readonly id: string; readonly foundAt: string }[];
  },
): Promise<void> {
  const { connectionId, resource, landedAt, gone } = input;
  if (gone.length === 0) return;
  await client.query(
    `with gone as materialized (
       select $1::text as connection_id, * from unnest($3::text[], $4::timestamptz[]) as confirmed (id, found_at)
     )
     update sync.quarantine q
     set status = 'discarded', closed_at = $5::timestamptz, closed_why = $6
     from gone
     where q.connection_id = gone.connection_id and q.resource = $2 and q.entry_key = gone.id
       and q.status = 'open' and q.last_seen_at < gone.found_at`,
    [
      connectionId,
      resource.name,
      gone.map(({ id }) => id),
      gone.map(({ foundAt }) => foundAt),
      landedAt,
      deletedAtSource,
    ],
  );
}
