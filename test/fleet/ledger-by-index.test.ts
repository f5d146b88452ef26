import { expect, test } from 'vitest';
import { claimDelivery } from '../../warehouse/alerts/claim-delivery.ts';
import { judgeAlerts } from '../../warehouse/alerts/judge-alerts.ts';
import { readOpenAlerts } from '../../warehouse/alerts/read-alerts.ts';
import { rankConnections } from '../../warehouse/connections/rank-connections.ts';
import {
  readStatus,
  readStatusesFor,
  type ConnectionStatus,
} from '../../warehouse/connections/read-status.ts';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import { countInWords } from '../../warehouse/quarantine/count-open-entries.ts';
import { newestOpenEntries } from '../../warehouse/quarantine/read-quarantine.ts';
import { connectionsAskingForApproval } from '../../warehouse/reconcile/asked-for-approval.ts';
import { readDiscrepancies } from '../../warehouse/reconcile/read-discrepancies.ts';
import { readRuns } from '../../warehouse/runs/read-run.ts';
import { rowsLookedAt } from '../support/rows-looked-at.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { addFleet } from './add-fleet.ts';

const { url } = await createTestDatabase();
/** Has one session, so that its statistics can be asked for. */
const warehouse = openWarehouse({ url, connections: 1 });
const { pool } = warehouse;

const runs = 40_000;
await addFleet(warehouse, { connections: 400 });
await pool.query(
  `insert into sync.runs (run_id, connection_id, kind, status, workflow_id, temporal_run_id, reason, started_at, finished_at)
   select 'run-' || n, 'co-' || lpad((n % 400)::text, 5, '0'), case when n % 10 < 6 then 'webhook' when n % 10 < 8 then 'reconcile' else 'sync' end, 'succeeded', 'w', 'temporal-' || n,
     'test', now() - n * interval '1 second', now() - n * interval '1 second'
   from generate_series(1, $1::int) n`,
  [runs],
);
await pool.query('vacuum analyze sync.runs, sync.connections, sync.streams');

const entries = 40_000;
/** A company that has sent records that cannot be stored: all but one of the entries belong to its bills. */
const flooded = 'co-00007';
await pool.query(
  `insert into sync.quarantine
     (connection_id, resource, stream, entry_key, reason, payload, run_id, first_seen_at, last_seen_at)
   select case n when 10 then 'co-00003' else $2 end, 'bills', 'bills', 'entry-' || n, 'id is missing', '{}', 'run',
     now() - interval '1 hour', now()
   from generate_series(1, $1::int) n`,
  [entries, flooded],
);
await pool.query('analyze sync.quarantine');

const differences = 40_000;
/**
 * All but one of the deletions that wait for approval belong to the same company. One belongs to a reconcile that has not asked. Most
 * entries are closed.
 */
await pool.query(
  `insert into sync.discrepancies (connection_id, resource, record_id, kind, status, version, run_id, found_at, closed_at)
   select case when n = 10 then 'co-00003' when n = 11 then 'co-00004' else $2 end, 'bills', 'record-' || n,
     case when n > $1 / 4 then 'missing' else 'extra' end, case when n > $1 / 4 then 'repaired' else 'confirmed' end, now(),
     case when n = 10 then 'run-3' when n = 11 then 'run-4' else 'run-7' end,
     case when n <= 11 then now() - interval '1 hour' else now() end, case when n > $1 / 4 then now() end
   from generate_series(1, $1::int) n`,
  [differences, flooded],
);
await pool.query(
  `insert into sync.run_streams (run_id, connection_id, stream, status, failure_type, failure)
   values ('run-3', 'co-00003', 'bills', 'partial', 'ApprovalNeeded', 'One is gone.'), ('run-4', 'co-00004', 'bills', 'running', null, null),
     ('run-7', $1, 'bills', 'partial', 'ApprovalNeeded', 'Many are gone.')`,
  [flooded],
);
await pool.query('analyze sync.discrepancies');

test.each([
  ['the newest of all', () => readRuns(warehouse, { limit: 51 })],
  ['a page far down', () => readRuns(warehouse, { before: 'run-30000', limit: 51 })],
  ['the newest of a connection', () => readRuns(warehouse, { connectionId: 'co-00003', limit: 51 })],
  [
    'a page of a connection',
    () => readRuns(warehouse, { connectionId: 'co-00003', before: 'run-30003', limit: 20 }),
  ],
  [
    'the running ones of a connection',
    () => readRuns(warehouse, { connectionId: 'co-00003', running: true, limit: 10 }),
  ],
  ['the run of a workflow', () => readRuns(warehouse, { temporalRunId: 'temporal-777', limit: 1 })],
  ['the newest failures', () => judged()],
  ['the last run of each connection on a page', () => readStatusesFor(warehouse, ['co-00003', 'co-00004'])],
])('%s: the ledger of runs is read by index', async (_what, read) => {
  const { found, looked } = await rowsLookedAt(warehouse, 'sync.runs', read);
  expect(found.length).toBeLessThanOrEqual(51);
  expect(looked).toBeLessThan(runs / 20);
});

test.each<[string, () => Promise<readonly unknown[]>]>([
  ['the newest of all', () => newestOpenEntries(warehouse, { limit: 51 })],
  ['a page far down', () => newestOpenEntries(warehouse, { before: 20_000, limit: 51 })],
  ['those of a resource', () => newestOpenEntries(warehouse, { resource: 'items', limit: 51 })],
  ['those of that connection', () => newestOpenEntries(warehouse, { connectionId: flooded, limit: 51 })],
  [
    'those of its other lists',
    () => newestOpenEntries(warehouse, { connectionId: flooded, resource: 'items', limit: 51 }),
  ],
  [
    'those of another connection',
    () => newestOpenEntries(warehouse, { connectionId: 'co-00003', limit: 51 }),
  ],
  [
    'the connections that have any',
    async () => (await rankConnections(warehouse, { pausedElsewhere: [], limit: 51 })).names,
  ],
])('%s: the open entries of one connection are not all scanned', async (_what, read) => {
  const { found, looked } = await rowsLookedAt(warehouse, 'sync.quarantine', read);
  expect(found.length).toBeLessThanOrEqual(51);
  expect(looked).toBeLessThan(entries / 20);
});

test.each<[string, () => Promise<readonly unknown[]>]>([
  ['the newest of all', () => readDiscrepancies(warehouse, { connectionId: undefined, limit: 51 })],
  [
    'a page far down',
    () => readDiscrepancies(warehouse, { connectionId: undefined, before: 20_000, limit: 51 }),
  ],
  [
    'those of another connection',
    () => readDiscrepancies(warehouse, { connectionId: 'co-00003', limit: 51 }),
  ],
  [
    'those of a connection that has none',
    () => readDiscrepancies(warehouse, { connectionId: 'co-00005', limit: 51 }),
  ],
  ['the connections that ask for approval', () => connectionsAskingForApproval(warehouse)],
  ['the alerts', judged],
])('%s: the discrepancies of one connection are not all scanned', async (_what, read) => {
  const { found, looked } = await rowsLookedAt(warehouse, 'sync.discrepancies', read);
  expect(found.length).toBeLessThanOrEqual(51);
  expect(looked).toBeLessThan(differences / 20);
});

test('the next alert to send is found without a scan of ended alerts', async () => {
  const over = 40_000;
  await pool.query(
    `insert into sync.alerts (kind, connection_id, message, remedy, opened_at, open_sent_at, resolved_at, resolved_sent_at)
     select 'failed', 'co-' || lpad((n % 400)::text, 5, '0'), 'over ' || n, 'none', now(), now(), now(), now()
     from generate_series(1, $1::int) n`,
    [over],
  );
  await pool.query('analyze sync.alerts');
  await judged();
  const { found, looked } = await rowsLookedAt(warehouse, 'sync.alerts', () => claimDelivery(warehouse));
  expect(found?.event).toBe('open');
  expect(looked).toBeLessThan(over / 20);
});

test('every connection whose deletions wait for approval is listed, whatever their number', async () => {
  expect(await connectionsAskingForApproval(warehouse)).toEqual(['co-00003', flooded]);
  await judged();
  const asked = (await readOpenAlerts(warehouse)).filter(({ kind }) => kind === 'approval');
  expect(asked.map(({ message }) => message).sort()).toEqual([
    'co-00003: a reconcile has stopped to ask. One is gone.',
    `${flooded}: a reconcile has stopped to ask. Many are gone.`,
  ]);
});

test('a page of discrepancies continues where the previous one ended', async () => {
  const page = (before?: number): ReturnType<typeof readDiscrepancies> =>
    readDiscrepancies(warehouse, { connectionId: undefined, before, limit: 30 });
  const both = await readDiscrepancies(warehouse, { connectionId: undefined, limit: 60 });
  const [first, second] = [await page(), await page(both[29]?.id)];
  expect([...first, ...second].map(({ id }) => id)).toEqual(both.map(({ id }) => id));
  const rest = await readDiscrepancies(warehouse, { connectionId: undefined, before: 12, limit: 20 });
  expect(rest.map(({ id }) => id)).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1]);
});

test.each<[string, () => Promise<readonly ConnectionStatus[]>]>([
  ['some connections', () => readStatusesFor(warehouse, ['co-00003', 'co-00004', flooded])],
  ['all connections', () => readStatus(warehouse)],
])('the status of %s counts no more open entries than it shows', async (_what, read) => {
  const { found, looked } = await rowsLookedAt(warehouse, 'sync.quarantine', read);
  const shownCounts = new Map(found.map(({ name, quarantined }) => [name, quarantined]));
  expect([shownCounts.get('co-00003'), shownCounts.get('co-00004'), shownCounts.get(flooded)]).toEqual([
    1, 0, 10_001,
  ]);
  expect([1_234, 10_000, 10_001].map(countInWords)).toEqual(['1,234', '10,000', 'more than 10,000']);
  expect(looked).toBeLessThan(entries / 3);
});

test('the quarantine alert of an endless quarantine is judged by its newest entries', async () => {
  const { looked } = await rowsLookedAt(warehouse, 'sync.quarantine', judged);
  expect(looked).toBeLessThan(entries / 3);
  const alerts = (await readOpenAlerts(warehouse)).filter(({ kind }) => kind === 'quarantine');
  expect(alerts.map(({ message }) => message.replace(/since .* UTC/, 'since then'))).toEqual([
    'co-00003: 1 record could not be landed since then (1 of bills) and wait in quarantine, 1 with those before.',
    `${flooded}: more than 10,000 records could not be landed since then (more than 10,000 of bills) and wait in quarantine, ` +
      'more than 10,000 with those before.',
  ]);
});

async function judged(): Promise<readonly unknown[]> {
  await judgeAlerts(warehouse, { pausedElsewhere: [] });
  return [];
}
