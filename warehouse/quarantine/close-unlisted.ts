import type { PoolClient } from 'pg';
import type { RunScope } from '../record-scope.ts';

/**
 * Closes what waits of records without a usable id and that a complete listing did not show: nobody can ask for them. `began`
 * is when the listing did; what another run has met since stays.
 */
export async function closeUnlisted(
  client: PoolClient,
  { connectionId, resource, runId, began }: RunScope & { began: string },
): Promise<void> {
  await client.query(
    `update sync.quarantine
     set status = 'discarded', closed_at = clock_timestamp(), closed_why = 'a complete listing no longer shows it'
     where connection_id = $1 and resource = $2 and record_id is null and stream <> 'events' and status = 'open'
       and run_id <> $3 and last_seen_at < $4`,
    [connectionId, resource.name, runId, began],
  );
}
