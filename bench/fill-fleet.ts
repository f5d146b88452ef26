import { streams } from '../resources/index.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';

/**
 * Fills an empty warehouse with what the ledger of many connections holds: of a hundred, one is stale, one fails, two hold
 * quarantine and one has an alert. Runs are spread over 90 days, the syncs of the last day with their streams. No records.
 * Schedules are rare, so that none fires while something is measured.
 */
export async function fillFleet(
  { pool }: Warehouse,
  { connections, runs, apiAddress }: { connections: number; runs: number; apiAddress: string },
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
  await pool.query(
    `insert into sync.runs
       (run_id, connection_id, kind, status, workflow_id, temporal_run_id, reason, failure, started_at, finished_at)
     select connection_id || '-' || n, connection_id, case when n % 50 = 7 then 'reconcile' else 'sync' end,
       case when n = 1 and failures > 0 then 'failed' else 'succeeded' end, 'sync/' || connection_id, connection_id || '-' || n,
       'schedule', case when n = 1 and failures > 0 then 'The finance API did not answer.' end, at, at + interval '2 seconds'
     from sync.connections, generate_series(1, $1::int) n,
       lateral (select now() - interval '20 minutes' - (n - 1) * interval '90 days' / $1 as at) began`,
    [runs],
  );
  await pool.query(
    `insert into sync.run_streams (run_id, connection_id, stream, status, pages, requests, started_at, finished_at)
     select run_id, r.connection_id, s.stream, r.status, 1, 1, r.started_at, r.finished_at
     from sync.runs r join sync.streams s using (connection_id)
     where r.started_at > now() - interval '24 hours'`,
  );
  await pool.query(
    `insert into sync.quarantine
       (connection_id, resource, stream, entry_key, reason, payload, run_id, first_seen_at, last_seen_at)
     select connection_id, 'bills', 'bills', 'entry', 'id is missing', '{}', 'run', now() - interval '2 days', now()
     from sync.connections where connection_id similar to '%(03|04)'`,
  );
  await pool.query('vacuum analyze');
}
