import type { PoolClient } from 'pg';
import type { RunScope } from '../record-scope.ts';
import { listLag, surelyListed } from './list-lag.ts';
import { streamsOf } from './streams-of.ts';
import { versionOfEntry } from '../quarantine/version-of-entry.ts';

/**
 * Closes what waits of records without a usable id and that a complete listing did not show, though it is older than a list may lag:
 * nobody can ask for them. `began` is when the listing did; what another run has met since stays. What says no version is as old as
 * it was last met.
 */
export async function closeUnlisted(
  client: PoolClient,
  input: RunScope & { began: string; lookbackMilliseconds: number },
): Promise<void> {
  const { connectionId, resource, runId, began, lookbackMilliseconds } = input;
  const { rows } = await client.query<Unlisted>(
    `with listing as (
       select ${surelyListed(resource, '$6')} as surely_listed
       from sync.passes
       where connection_id = $1 and stream = any($5::text[]) and kind = 'reconcile' and run_id = $3
     )
     select q.id::text as id, q.payload, (extract(epoch from surely_listed) * 1000000)::float8 as "surelyListed",
       q.last_seen_at < $4::timestamptz - ${listLag(resource, '$6')} as "wasLongAgo"
     from sync.quarantine q, listing
     where q.connection_id = $1 and q.resource = $2 and q.record_id is null and q.stream <> 'events' and q.status = 'open'
       and q.run_id <> $3 and q.last_seen_at < $4`,
    [connectionId, resource.name, runId, began, streamsOf(resource), lookbackMilliseconds],
  );
  const gone = rows.filter(({ payload, surelyListed: newest, wasLongAgo }) => {
    const version = versionOfEntry(payload, resource);
    // Of a service that does not tell its time, and listed nothing, nobody knows how old that is.
    return version === undefined || newest === null ? wasLongAgo : version < newest;
  });
  if (gone.length === 0) return;
  await client.query(
    `update sync.quarantine
     set status = 'discarded', closed_at = clock_timestamp(), closed_why = 'a complete listing no longer shows it'
     where id = any($1::bigint[]) and status = 'open'`,
    [gone.map(({ id }) => id)],
  );
}

interface Unlisted {
  id: string;
  payload: string;
  /** In microseconds since 1970, by the service's clock: what is older was there for the listing to show. */
  surelyListed: number | null;
  /** It was last met longer before the listing than a list may lag. */
  wasLongAgo: boolean;
}
