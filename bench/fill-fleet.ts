import { streams } from '../resources/index.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';

/** A sync every quarter of an hour, the default. The newest two days are kept whole: DAYBOOK_KEEP_QUIET_RUNS=2d. */
const syncsADay = 96;
const wholeDays = 2;

/** One in this many syncs finds something, in one stream. */
const syncsPerFinding = 10;

/**
 * Fills an empty warehouse with the ledger of many connections. In every hundred, one is stale, one fails, two have quarantine and one has an
 * alert. There is a sync every quarter of an hour for `days`, as retention leaves them: the last two days with all streams, and before that only
 * the syncs that found something, with their stream, and a count for each day. There are no records. Schedules are rare, so that none fires
 * during a measurement.
 */
export async function fillFleet(
  { pool }: Warehouse,
  { connections, days, apiAddress }: { connections: number; days: number; apiAddress: string },
  progress: (text: string) => void,
): Promise<void> {
  await pool.query(
    `insert into sync.connections
       (connection_id, api_address, token_sealed, platform, org_id, created_at, sync_every, reconcile_every, failures)
     select 'co-' || lpad(n::text, 5, '0'), $2, '', 'QUICKBOOKS', 'org-' || n, now() - interval '90 days', interval '1 day',
       interval '7 days', case when n % 100 = 1 then 2 else 0 end
     from generate_series(1, $1::int) n`,
    [connections, apiAddress],
  );
  await pool.query(
    `insert into sync.streams (connection_id, stream, resource, capability, watermark, last_success_at, last_reconcile_at)
     select connection_id, stream, resource, 'supported', now() - interval '20 minutes',
       now() - case when connection_id like '%02' then interval '3 days' else interval '20 minutes' end, now() - interval '2 days'
     from sync.connections, unnest($1::text[], $2::text[]) listed (stream, resource)`,
    [
      [...streams.map(({ stream }) => stream.name), 'events'],
      [...streams.map(({ resource }) => resource.name), 'events'],
    ],
  );
  // Oldest first, one transaction per day, as they would have been written.
  for (let daysAgo = days; daysAgo >= 1; daysAgo -= 1) {
    if (daysAgo % 10 === 0 || daysAgo <= wholeDays) progress(`filling the ledger: ${daysAgo} days ago`);
    const isWhole = daysAgo <= wholeDays;
    await pool.query(fillDay, [daysAgo, isWhole ? 1 : syncsPerFinding, syncsADay, isWhole]);
    if (!isWhole)
      await pool.query(countDay, [
        daysAgo,
        syncsADay - Math.ceil(syncsADay / syncsPerFinding),
        streams.length + 1,
      ]);
  }
  await pool.query(
    `update sync.runs r set status = 'failed', failure = 'The finance API did not answer.'
     from sync.connections c
     where c.failures > 0 and run_id = c.connection_id || '-1-' || ($1::int - 1)`,
    [syncsADay],
  );
  await pool.query(
    `insert into sync.quarantine
       (connection_id, resource, stream, entry_key, reason, payload, run_id, first_seen_at, last_seen_at)
     select connection_id, 'bills', 'bills', 'entry', 'id is missing', '{}', 'run', now() - interval '2 days', now()
     from sync.connections where connection_id similar to '%(03|04)'`,
  );
  progress('vacuum analyze');
  await pool.query('vacuum analyze');
}

/** Inserts, for $1 days ago, one in $2 of $3 syncs, with all streams or only that of bills. One in `findsOneOf` syncs found something there. */
const fillDay = `
  with runs as (
    insert into sync.runs
      (run_id, connection_id, kind, status, workflow_id, temporal_run_id, reason, started_at, finished_at)
    select connection_id || '-' || $1 || '-' || n, connection_id, case when n = 50 then 'reconcile' else 'sync' end, 'succeeded',
      'sync/' || connection_id, gen_random_uuid(), 'schedule', at, at + interval '2 seconds'
    from generate_series(0, $3::int - 1, $2::int) n
    cross join lateral (
      select now() - interval '20 minutes' - $1::int * interval '1 day' + (n + 1) * interval '1 day' / $3::int as at
    ) as began
    cross join sync.connections
    returning run_id, connection_id, started_at, finished_at
  )
  insert into sync.run_streams
    (run_id, connection_id, stream, status, pages, requests, read, updated, started_at, finished_at)
  select run_id, connection_id, s.stream, 'succeeded', 1, 1, found, found, r.started_at, r.finished_at
  from runs r
  join sync.streams s using (connection_id)
  cross join lateral (select (s.stream = 'bills' and right(run_id, 1) = '0')::int as found) as known
  where $4::boolean or s.stream = 'bills'`;

const countDay = `
  insert into sync.quiet_days (connection_id, day, syncs, requests, read)
  select connection_id, (now() - $1::int * interval '1 day')::date, $2::int, $2::int * $3::int, 0 from sync.connections`;
