import type { PoolClient } from 'pg';
import type { RecordScope } from '../record-scope.ts';
import { deletedAtSource } from './deleted-at-source.ts';

/**
 * Closes what waits in quarantine of records that never landed and that this reconcile confirmed to be gone. One that was met
 * again since lives again.
 */
export async function closeGone(
  client: PoolClient,
  input: RecordScope & { landedAt: string; foundBy: string },
): Promise<void> {
  const { connectionId, resource, landedAt, foundBy } = input;
  await client.query(
    `update sync.quarantine q
     set status = 'discarded', closed_at = $4::timestamptz, closed_why = $5
     from sync.discrepancies d
     where d.connection_id = $1 and d.resource = $2 and d.run_id = $3
       and d.status = 'confirmed' and d.version is null
       and q.connection_id = $1 and q.resource = $2 and q.entry_key = d.record_id
       and q.status = 'open' and q.last_seen_at < d.found_at`,
    [connectionId, resource.name, foundBy, landedAt, deletedAtSource],
  );
}
