import { expect, test } from 'vitest';
import { judgeAlerts } from '../../warehouse/alerts/judge-alerts.ts';
import { readStatusOf } from '../../warehouse/connections/read-status.ts';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import { readRuns } from '../../warehouse/runs/read-run.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { addFleet } from './add-fleet.ts';

const { url } = await createTestDatabase();
/** One session, so that what it has read can be asked of it. */
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

test.each([
  ['the newest of all', () => readRuns(warehouse, { limit: 51 })],
  ['a page far down', () => readRuns(warehouse, { before: 'run-30000', limit: 51 })],
  ['the newest of a connection', () => readRuns(warehouse, { connectionId: 'co-00003', limit: 51 })],
  [
    'a page of a connection',
    () => readRuns(warehouse, { connectionId: 'co-00003', before: 'run-30003', limit: 20 }),
  ],
  ['those that run', () => readRuns(warehouse, { connectionId: 'co-00003', running: true, limit: 10 })],
  ['the one of a workflow', () => readRuns(warehouse, { temporalRunId: 'temporal-777', limit: 1 })],
  ['what failed last', () => judged()],
  ['the last run of each connection on a page', () => readStatusOf(warehouse, ['co-00003', 'co-00004'])],
])('%s: the ledger of runs is read by its indexes', async (_what, read) => {
  await pool.query('select pg_stat_force_next_flush()');
  const before = await rowsRead();
  const found = await read();
  await pool.query('select pg_stat_force_next_flush()');
  expect(found.length).toBeLessThanOrEqual(51);
  expect((await rowsRead()) - before).toBeLessThan(runs / 20);
});

async function judged(): Promise<readonly unknown[]> {
  await judgeAlerts(warehouse, { pausedElsewhere: [] });
  return [];
}

/** How many rows of it statements have looked at, by a scan of the table or of an index. */
async function rowsRead(): Promise<number> {
  const { rows } = await pool.query<{ rows: number }>(
    `select t.seq_tup_read + sum(i.idx_tup_read) as rows
     from pg_stat_user_tables t join pg_stat_user_indexes i using (relid)
     where t.relid = 'sync.runs'::regclass group by t.seq_tup_read`,
  );
  return Number(rows[0]?.rows);
}
