import { addConnection } from '../../warehouse/connections/add-connection.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { streams } from '../../resources/index.ts';

/** Texts that must never be on a page, planted wherever they could leak from. */
export const planted = {
  token: 'planted-access-token',
  body: 'planted-record-body',
  markup: '<img src=x onerror="document.title=`owned`"><script>document.title="owned"</script>',
} as const;

/** Makes connections in every state that a page has to show. Their names tell the state. */
export async function plantStates(
  warehouse: Warehouse,
  secretKey: Buffer,
  apiAddress: string,
): Promise<void> {
  for (const { name, platform } of connections) {
    await addConnection(warehouse, secretKey, {
      connectionId: name,
      apiAddress,
      token: planted.token,
      expandPlatformData: false,
      syncEvery: 15 * 60_000,
      reconcileEvery: 86_400_000,
    });
    await warehouse.pool.query(
      'update sync.connections set platform = $2, org_id = $3 where connection_id = $1',
      [name, platform, `org-${name}`],
    );
  }
  for (const { name, minutesAgo } of connections) {
    if (minutesAgo !== undefined) await plantStreams(warehouse, name, minutesAgo);
  }
  await warehouse.pool.query(runs);
  await warehouse.pool.query(snapshots);
  await warehouse.pool.query(reasons, [planted.markup, planted.body]);
  await warehouse.pool.query(sitting, [planted.markup, JSON.stringify({ note: planted.body })]);
}

const connections = [
  { name: 'acme-us', platform: 'QUICKBOOKS', minutesAgo: 3 },
  { name: 'acme-eu', platform: 'NETSUITE', minutesAgo: 7 },
  { name: 'failing', platform: 'XERO', minutesAgo: 25 },
  { name: 'gone', platform: 'QUICKBOOKS', minutesAgo: 11 },
  { name: 'new', platform: null, minutesAgo: undefined },
  { name: 'paused', platform: 'SAGE_INTACCT', minutesAgo: 190 },
  { name: 'stale', platform: 'XERO', minutesAgo: 700 },
] as const;

async function plantStreams({ pool }: Warehouse, name: string, minutesAgo: number): Promise<void> {
  for (const { stream, resource } of [
    ...streams,
    { stream: { name: 'events' }, resource: { name: 'events' } },
  ]) {
    await pool.query(
      `insert into sync.streams (connection_id, stream, resource, capability, watermark, last_success_at, last_reconcile_at)
        values ($1, $2, $3, case when $1 = 'stale' and $2 = 'subscriptions' then 'unsupported' else 'supported' end,
          now() - make_interval(mins => $4 + 1), now() - make_interval(mins => $4), now() - interval '9 hours')`,
      [name, stream.name, resource.name, minutesAgo],
    );
  }
}

/** A snapshot of a release that did not know parts, one that was removed, and the latest. */
const snapshots = `
  insert into sync.snapshots
    (snapshot_id, run_id, lake, taken_at, rows, bytes, unfit, manifest_sha256, mark, removed_at, parts, parts_added, bytes_added)
  values
    ('20261120T060000Z-000001', 'export-1', '/lake', now() - interval '2 days', 920011, 101300000, 0, '', '', null, null, null, null),
    ('20261121T060000Z-000002', 'export-2', '/lake', now() - interval '1 day', 920020, 101300000, 0, '', '', now(), 1021, 1, 12000),
    ('20261122T060000Z-000003', 'export-3', '/lake', now() - interval '1 hour', 920150, 101400000, 2, '', '', null, 1021, 97, 9840000);
`;

const runs = `
  insert into sync.runs (run_id, connection_id, kind, status, workflow_id, temporal_run_id, reason, failure, started_at, finished_at)
  values
    ('run-us', 'acme-us', 'sync', 'running', 'sync/acme-us', 'run-us', 'schedule', null, now() - interval '14 seconds', null),
    ('run-us-before', 'acme-us', 'reconcile', 'succeeded', 'reconcile/acme-us', 'run-us-before', 'schedule', null,
      now() - interval '9 hours', now() - interval '9 hours' + interval '41 seconds'),
    ('run-eu', 'acme-eu', 'sync', 'succeeded', 'sync/acme-eu', 'run-eu', 'schedule', null,
      now() - interval '7 minutes', now() - interval '7 minutes' + interval '3200 milliseconds'),
    ('run-failing', 'failing', 'sync', 'failed', 'sync/failing', 'run-failing', 'schedule',
      'The finance API did not answer for longer than DAYBOOK_GIVE_UP_AFTER (last: 503). The next run goes on.',
      now() - interval '12 minutes', now() - interval '2 minutes'),
    ('run-gone', 'gone', 'reconcile', 'partial', 'reconcile/gone', 'run-gone', 'console',
      '60 of 100 bills are gone at the source, and none was deleted. If that is right, approve it: "daybook reconcile gone --approve-deletes".',
      now() - interval '11 minutes', now() - interval '10 minutes'),
    ('run-paused', 'paused', 'sync', 'succeeded', 'sync/paused', 'run-paused', 'schedule', null,
      now() - interval '190 minutes', now() - interval '189 minutes'),
    ('run-stale', 'stale', 'sync', 'interrupted', 'sync/stale', 'run-stale', 'schedule', null,
      now() - interval '11 hours', now() - interval '10 hours');
  insert into sync.run_streams (run_id, connection_id, stream, status, pages, requests, read, inserted, updated, unchanged,
    quarantined, watermark_before, watermark_after, started_at, finished_at)
  select run_id, connection_id, stream, case when stream = 'bills' then runs.status else 'succeeded' end, 25, 26, 12400, 31, 212,
    12157, case when connection_id = 'gone' then 1 else 0 end, started_at - interval '1 hour', started_at,
    started_at, finished_at
  from sync.runs, unnest(array['bills', 'expenses', 'refunds', 'customers', 'items']) as stream;
  update sync.run_streams set totals = '{"equal": true,
    "source": {"USD": {"records": "1198", "total_amount": "4812733.10", "bill_lines.total_amount": "4812733.10"}, "JPY": {"records": "3", "total_amount": "120000", "bill_lines.total_amount": "120000"}},
    "warehouse": {"USD": {"records": "1198", "total_amount": "4812733.10", "bill_lines.total_amount": "4812733.10"}, "JPY": {"records": "3", "total_amount": "120000", "bill_lines.total_amount": "120000"}}}'
  where run_id = 'run-us-before' and stream = 'bills';
  update sync.run_streams set failure_type = 'GaveUp', failure = 'bills kept failing (503).'
  where run_id = 'run-failing' and stream = 'bills';
  update sync.run_streams set failure_type = 'ApprovalNeeded' where run_id = 'run-gone' and stream = 'bills';
  update sync.connections set failures = 3 where connection_id = 'failing'`;

const reasons = `
  with paused as (
    update sync.connections set paused_at = now() - interval '3 hours', paused_by = 'person', paused_why = 'Month end: ' || $1
    where connection_id = 'paused'
  ), quarantined as (
    insert into sync.quarantine (connection_id, resource, stream, record_id, entry_key, reason, payload, run_id, first_seen_at, last_seen_at)
    select case n % 2 when 0 then 'gone' else 'acme-us' end, 'bills', 'bills', '018cef06-a2ee-725a-952f-f205cc26b8b' || n, n::text,
      case n when 2 then $1 else 'total_amount is a text, not a number.' end, $2, 'run-gone', now() - n * interval '1 hour', now()
    from generate_series(1, 4) as n
  )
  insert into sync.discrepancies (connection_id, resource, record_id, kind, status, version, run_id, found_at, closed_why)
  select 'gone', 'bills', '018cef06-9f09-725a-952f-f205cc26b' || n, 'extra', 'confirmed', now(), 'run-gone', now() - interval '11 minutes', null
  from generate_series(100, 159) as n
  union all
  select 'acme-us', 'bills', '018cef06-a2ee-725a-952f-f205cc26b8bb', 'damaged', 'repaired', now(), 'run-us-before', now() - interval '9 hours', $1`.replaceAll(
  '$1',
  '$1::text',
);

const sitting = `
  with alerts as (
    insert into sync.alerts (kind, connection_id, message, remedy, opened_at, resolved_at) values
      ('stale', 'stale', 'No sync of stale was complete for 11 h.', 'See why its last run failed: daybook runs stale', now() - interval '10 hours', null),
      ('failed', 'failing', 'Three syncs in a row failed: ' || $1::text, 'See the run, then daybook sync failing', now() - interval '40 minutes', null),
      ('quarantine', 'gone', 'A record waits in quarantine.', 'daybook quarantine list', now() - interval '30 hours', now() - interval '29 hours')
  )
  insert into sync.webhook_inbox (digest, connection_id, type, code, resource, record_id, payload, status, outcome, deliveries, received_at, closed_at)
  select 'digest-' || n, case n when 1 then null else 'acme-us' end, 'BILL', case n when 2 then left($1::text, 60) else 'BILL_UPDATED' end, 'bills',
    '018cef06-a2ee-725a-952f-f205cc26b8b' || n, $2::jsonb, case n when 1 then 'ignored' when 2 then 'waiting' else 'applied' end,
    case n when 1 then 'No connection here has this identity.' when 2 then null else 'updated' end, n, now() - n * interval '20 seconds',
    case n when 2 then null else now() end
  from generate_series(1, 5) as n`;
