import type { PoolClient } from 'pg';
import type { RecordScope } from '../record-scope.ts';

/**
 * Closes the waiting deletions of records that have left `finance` meanwhile, because an event or a webhook has announced them too: nobody has to
 * approve them any more.
 *
 * Expects the resource of the connection to be locked.
 */
export async function closeWaitingDeletions(
  client: PoolClient,
  { connectionId, resource, ids }: RecordScope & { ids: readonly string[] },
): Promise<void> {
  await client.query({
    name: 'close waiting deletions',
    text: `
      with w as materialized (
        select connection_id, record_id, run_id from sync.waiting_deletions
        where connection_id = $1 and resource = $2 and record_id = any($3::text[])
      )
      update sync.discrepancies d
      set status = 'repaired', closed_at = clock_timestamp(), closed_why = 'deleted'
      from w
      where d.connection_id = w.connection_id and d.resource = $2 and d.record_id = w.record_id and d.run_id = w.run_id
        and d.kind = 'extra' and d.status = 'confirmed' and d.closed_at is null`,
    values: [connectionId, resource.name, ids],
  });
}
