import { beforeEach, describe, expect, test } from 'vitest';
import { removeConnection } from '../../warehouse/connections/remove-connection.ts';
import { indexesOnly } from '../../warehouse/transactions/indexes-only.ts';
import { pruneWarehouse, type Pruned } from '../../warehouse/retention/prune-warehouse.ts';
import { foldQuietSql } from '../../warehouse/retention/quiet-runs.ts';
import { endingSessions } from '../support/ending-sessions.ts';
import { rows, type Row } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();
const day = 86_400_000;
let connectionId: string;

beforeEach(async () => {
  await warehouse.pool.query(`
    truncate sync.runs, sync.run_streams, sync.quiet_days;
    delete from sync.settings where name in ('quiet_runs_folded_until', 'stream_months_kept_until')`);
  connectionId = await addTestConnection(warehouse);
  await addRun({ runId: 'newest', hoursAgo: 1 });
});

describe('syncs that found nothing', () => {
  test('are kept as long as other runs if DAYBOOK_KEEP_QUIET_RUNS is not set', async () => {
    await addRun({ runId: 'quiet', hoursAgo: 80 * 24 });
    expect(await prune({ quietRunsMilliseconds: undefined })).toMatchObject({ 'sync.runs': 0 });
    expect(await runIds()).toEqual(['newest', 'quiet']);
    expect(await quietDays()).toEqual([]);
  });

  test('become a count for each day when they are older, and other runs are kept', async () => {
    for (const hoursAgo of [100, 100.25, 100.5, 200]) await addRun({ runId: `quiet ${hoursAgo}`, hoursAgo });
    await addRun({ runId: 'of yesterday', hoursAgo: 24 });
    await addRun({ runId: 'changed', hoursAgo: 110, stream: { updated: 1 } });
    await addRun({ runId: 'suppressed', hoursAgo: 111, stream: { suppressed: 1 } });
    await addRun({ runId: 'quarantined', hoursAgo: 112, stream: { quarantined: 1 } });
    await addRun({ runId: 'stalled', hoursAgo: 113, stream: { failure_type: 'Stalled' } });
    await addRun({ runId: 'partial', hoursAgo: 114, status: 'partial' });
    await addRun({ runId: 'failed', hoursAgo: 115, status: 'failed' });
    await addRun({ runId: 'reconcile', hoursAgo: 116, kind: 'reconcile' });
    await addRun({ runId: 'webhook', hoursAgo: 117, kind: 'webhook' });
    const before = await runIds();
    // Two streams of each, and the other stream of the three syncs that found something.
    const going = { 'sync.runs': 4, 'sync.run_streams': 8 + 3 };
    expect(await prune({ dryRun: true })).toMatchObject(going);
    expect(await runIds()).toEqual(before);
    expect(await prune()).toMatchObject(going);
    expect(await runIds()).toEqual(before.filter((runId) => !String(runId).startsWith('quiet')));
    const total = (await quietDays()).reduce((sum, { syncs }) => sum + Number(syncs), 0);
    expect(total).toBe(4);
    expect(await quietDays()).toEqual(
      await quietDaysOf([100, 100.25, 100.5, 200], { beside: [110, 111, 112] }),
    );
    expect(await streamsLeft()).toEqual({
      ...{ changed: ['bills'], suppressed: ['bills'], quarantined: ['bills'] },
      ...{ stalled: both, partial: both, failed: both, reconcile: both, webhook: both },
      ...{ 'of yesterday': both, newest: both },
    });
    expect(await prune()).toMatchObject({ 'sync.runs': 0, 'sync.run_streams': 0 });
  });

  test('are folded by the next prune when the one before kept them', async () => {
    await addRun({ runId: 'quiet', hoursAgo: 40 });
    expect(await prune()).toMatchObject({ 'sync.runs': 0 });
    expect(await prune({ quietRunsMilliseconds: day })).toMatchObject({ 'sync.runs': 1 });
  });

  test('are kept if they are the newest finished run', async () => {
    await warehouse.pool.query('truncate sync.runs, sync.run_streams');
    await addRun({ runId: 'only one', hoursAgo: 100 });
    await addRun({ runId: 'reads since', hoursAgo: 50, status: 'running' });
    await prune();
    expect(await runIds()).toEqual(['only one', 'reads since']);
  });

  test('are kept if they follow a failure, until a later run has read the same list', async () => {
    await addRun({
      runId: 'failed in part',
      hoursAgo: 110,
      status: 'partial',
      stream: { failure_type: 'Refused' },
    });
    for (const hoursAgo of [100, 90]) await addRun({ runId: `good at ${hoursAgo}`, hoursAgo });
    await warehouse.pool.query(`delete from sync.run_streams where run_id = 'newest' and stream = 'bills'`);
    const going = { 'sync.runs': 1, 'sync.run_streams': 3 };
    expect(await prune({ dryRun: true })).toMatchObject(going);
    expect(await prune()).toMatchObject(going);
    expect(await streamsLeft()).toEqual({
      'failed in part': both,
      'good at 90': ['bills'],
      newest: ['items'],
    });
  });

  test('are counted once, despite concurrent and killed prunes', async () => {
    for (let index = 0; index < 40; index += 1)
      await addRun({ runId: `quiet ${index}`, hoursAgo: 60 + index / 60 });
    const dying = pruneWarehouse(endingSessions(warehouse, 'after', { at: 7 }), {
      keep: keepOf({}),
      dryRun: false,
    });
    await dying.catch(() => undefined);
    await Promise.all([prune(), prune()]);
    expect(await runIds()).toEqual(['newest']);
    const total = (await quietDays()).reduce((sum, { syncs }) => sum + Number(syncs), 0);
    expect(total).toBe(40);
  });

  test('leave the record of complete months unchanged when they are folded', async () => {
    await addRun({ runId: 'quiet', hoursAgo: 24 * 70 });
    const months = (): Promise<Row[]> =>
      rows(
        warehouse,
        'select stream, month, outcome, complete_until from history.stream_months where connection_id = $1 order by 1, 2',
        [connectionId],
      );
    const before = await months();
    expect(before.length).toBe(4);
    await prune();
    expect(await runIds()).toEqual(['newest']);
    expect(await months()).toEqual(before);
    await prune();
    expect(await months()).toEqual(before);
  });

  test('do not complete a month for a list that had stalled', async () => {
    await addRun({
      runId: 'stalled',
      hoursAgo: 24 * 70,
      status: 'partial',
      stream: { failure_type: 'Stalled' },
    });
    const months = (): Promise<Row[]> =>
      rows(
        warehouse,
        `select distinct on (stream) stream, outcome, complete_until from history.stream_months
         where connection_id = $1 order by stream, month`,
        [connectionId],
      );
    const [bills, ...others] = await months();
    expect(bills).toEqual({ stream: 'bills', outcome: 'incomplete', complete_until: null });
    expect(others.map(({ outcome }) => outcome)).toEqual(['complete']);
  });

  test('have daily counts that are deleted with their connection, and with the oldest runs', async () => {
    await addRun({ runId: 'quiet', hoursAgo: 24 * 80 });
    await prune();
    expect(await quietDays()).toHaveLength(1);
    await prune({ runsMilliseconds: 70 * day });
    expect(await quietDays()).toEqual([]);
    await addRun({ runId: 'another', hoursAgo: 24 * 50 });
    await warehouse.pool.query(`delete from sync.settings where name = 'quiet_runs_folded_until'`);
    await prune();
    expect(await quietDays()).toHaveLength(1);
    await removeConnection(warehouse, { connectionId, keepData: false });
    expect(await quietDays()).toEqual([]);
  });

  test('are found by an index scan alone', async () => {
    const client = await warehouse.pool.connect();
    try {
      await client.query(`begin; ${indexesOnly}`);
      const { rows: plan } = await client.query<{ 'QUERY PLAN': string }>(`explain ${foldQuietSql}`, [
        ...['2020-01-01', 1_000],
        ...['2019-01-01', ''],
      ]);
      const lines = plan.map((line) => line['QUERY PLAN']).join('\n');
      expect(lines).toMatch(/Index Scan using runs_finished_at_idx/);
      expect(lines).not.toMatch(/Seq Scan/);
    } finally {
      await client.query('rollback');
      client.release();
    }
  });
});

interface KeepGiven {
  runsMilliseconds?: number;
  quietRunsMilliseconds?: number | undefined;
}

function keepOf(given: KeepGiven): Parameters<typeof pruneWarehouse>[1]['keep'] {
  return { runsMilliseconds: 90 * day, quietRunsMilliseconds: 2 * day, historyMilliseconds: null, ...given };
}

function prune({ dryRun = false, ...given }: KeepGiven & { dryRun?: boolean } = {}): Promise<Pruned> {
  return pruneWarehouse(warehouse, { keep: keepOf(given), dryRun });
}

/** Adds a run with two streams, the first of them as given. */
async function addRun({
  runId,
  hoursAgo,
  status = 'succeeded',
  kind = 'sync',
  stream = {},
}: {
  runId: string;
  hoursAgo: number;
  status?: string;
  kind?: string;
  stream?: Record<string, number | string>;
}): Promise<void> {
  const at = `now() - $2 * interval '1 hour'`;
  await warehouse.pool.query(
    `insert into sync.runs (run_id, connection_id, kind, status, workflow_id, temporal_run_id, reason, started_at, finished_at)
     select $1, $3, $4, $5, '', '', 'test', ${at}, case when $5 <> 'running' then ${at} end`,
    [runId, hoursAgo, connectionId, kind, status],
  );
  await warehouse.pool.query(
    `insert into sync.run_streams (run_id, connection_id, stream, status, requests, read, unchanged, started_at, finished_at)
     select $1, $3, stream, 'succeeded', 1, 3, 3, ${at}, ${at} from (values ('bills'), ('items')) as listed (stream)`,
    [runId, hoursAgo, connectionId],
  );
  for (const [column, value] of Object.entries(stream))
    await warehouse.pool.query(
      `update sync.run_streams set ${column} = $2 where run_id = $1 and stream = 'bills'`,
      [runId, value],
    );
}

async function runIds(): Promise<unknown[]> {
  return (await rows(warehouse, 'select run_id from sync.runs order by 1')).map(({ run_id }) => run_id);
}

function quietDays(): Promise<Row[]> {
  return rows(
    warehouse,
    'select day, syncs::int, requests::int, read::int from sync.quiet_days where connection_id = $1 order by day',
    [connectionId],
  );
}

/** The expected counts for quiet syncs, and for those beside them in which one stream of two found something. */
function quietDaysOf(hoursAgo: readonly number[], { beside }: { beside: readonly number[] }): Promise<Row[]> {
  return rows(
    warehouse,
    `select ((now() - ago * interval '1 hour') at time zone 'UTC')::date as day, sum(quiet)::int as syncs,
       sum(1 + quiet)::int as requests, 3 * sum(1 + quiet)::int as read
     from (select ago, 1 as quiet from unnest($1::float[]) as ago union all select ago, 0 from unnest($2::float[]) as ago) as began
     group by 1 order by 1`,
    [hoursAgo, beside],
  );
}

const both = ['bills', 'items'];

async function streamsLeft(): Promise<Record<string, string[]>> {
  const left = await rows(warehouse, 'select run_id, stream from sync.run_streams order by 1, 2');
  const byRun: Record<string, string[]> = {};
  for (const { run_id, stream } of left) (byRun[String(run_id)] ??= []).push(String(stream));
  return byRun;
}
