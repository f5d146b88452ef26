import type { PoolClient } from 'pg';
import { streamsOf } from '../../resources/streams-of.ts';
import type { RunScope } from '../record-scope.ts';
import { listLag, surelyListed } from './list-lag.ts';

/**
 * Closes entries of records without a usable ID that a complete listing did not show although they are older than a list may lag: nobody can ask for
 * them. `began` is the start of the listing; entries that another run has met since stay open. An entry without a version is as old as its last
 * sighting.
 */
export async function closeUnlisted(
  client: PoolClient,
  input: RunScope & { began: string; lookbackMilliseconds: number },
): Promise<void> {
  const { connectionId, resource, runId, began, lookbackMilliseconds } = input;
  await client.query(
    `with listing as (
       select (extract(epoch from ${surelyListed(resource, '$6')}) * 1000000)::bigint as surely_listed_us
       from sync.passes
       where connection_id = $1 and stream = any($5::text[]) and kind = 'reconcile' and run_id = $3
     )
     update sync.quarantine q
     set status = 'discarded', closed_at = clock_timestamp(), closed_why = 'a complete listing no longer shows it'
     from listing
     where q.connection_id = $1 and q.resource = $2 and q.record_id is null and q.stream <> 'events' and q.status = 'open'
       and q.run_id <> $3 and q.last_seen_at < $4
       -- If the service does not tell its time and listed nothing, the age of its data is unknown, so the lag is allowed for.
       and coalesce(q.version_us < surely_listed_us, q.last_seen_at < $4::timestamptz - ${listLag(resource, '$6')})`,
    [connectionId, resource.name, runId, began, streamsOf(resource), lookbackMilliseconds],
  );
}
