import { afterEach, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { bill, expense, subscription } from '../support/finance-records.ts';
import { readSearchAttributes } from '../support/workflow-history.ts';
import { createInstallation } from '../support/installation.ts';
import { proofTest } from '../support/proof-test.ts';
import { row, rows, type Row } from '../support/rows.ts';
import { statusesOf, sync, sumOverStreams } from '../support/sync.ts';
import { backfill, endOf, startBackfill } from './run-backfill.ts';

const installation = await createInstallation();
const { warehouse, admin } = installation;
await installation.startWorker();

/** Before all records that the sandbox makes up. */
const spring = { from: '2011-03-01', to: '2011-06-01' };
/** All records that the sandbox makes up. */
const always = { from: '2000-01-01', to: '2040-01-01', windowMilliseconds: 3_650 * 86_400_000 };

afterEach(async () => {
  await admin.clearFaults();
  await admin.configure({});
});

test('two backfills of one connection run side by side, and both succeed', async () => {
  const connection = await installation.connect();
  await admin.addFault({
    match: { connection, path: '/accounting/bills' },
    fault: { kind: 'slow', ms: 2_000 },
  });
  const first = await startBackfill(installation, { connection, from: '2011-03-01', to: '2011-06-01' });
  await eventually(async () => {
    const { left } = await row(
      warehouse,
      `select count(distinct stream) as left from sync.passes where connection_id = $1`,
      [connection],
    );
    return left === 1 ? true : undefined;
  });
  const other = await backfill(installation, { connection, from: '2011-01-01', to: '2011-02-01' });
  await admin.clearFaults();
  const ended = await endOf(installation, first);
  expect([other.run.status, ended.run.status]).toEqual(['succeeded', 'succeeded']);
});

test('a backfill reads late history with an old updated_at, which a sync does not see', async () => {
  const connection = await installation.connect();
  // If a list has shown nothing yet, a sync reads everything, however old.
  const refund = expense('in time', { expense_type: '"refund"' });
  await admin.execute({ kind: 'add', connection, resource: 'expenses', record: refund });
  expect((await sync(installation, connection)).run.status).toBe('succeeded');
  await addLate(connection, 'bills', bill('late', old));
  await addLate(connection, 'expenses', expense('late', old));
  await addLate(connection, 'expenses', expense('refund', { ...old, expense_type: '"refund"' }));
  await sync(installation, connection);
  expect((await installation.compare(connection)).differences).not.toEqual([]);
  const { run, failure } = await backfill(installation, { connection, ...spring });
  expect(failure).toBeUndefined();
  expect(run).toMatchObject({ kind: 'backfill', status: 'succeeded', reason: 'test' });
  expect(sumOverStreams(run, 'inserted')).toBe(3);
  expect((await installation.compare(connection)).differences).toEqual([]);
});

proofTest('a backfill reads subscriptions that changed long ago', async () => {
  const connection = await synced();
  await addLate(connection, 'subscriptions', subscription('late', { updated_at: old.updated_at }));
  await sync(installation, connection);
  expect((await installation.compare(connection)).differences).not.toEqual([]);
  await backfill(installation, { connection, ...spring, resources: ['subscriptions'] });
  expect((await installation.compare(connection)).differences).toEqual([]);
});

test('a backfill never moves a watermark, even if it reads newer records, and the next sync is exact', async () => {
  const connection = await synced();
  const before = await watermarksOf(connection);
  await admin.activity({ connection, changes: 5, deletes: 0 });
  const { run } = await backfill(installation, { connection, ...always });
  expect(run.streams.reduce((sum, { updated }) => sum + updated, 0)).toBeGreaterThan(0);
  expect(await watermarksOf(connection)).toEqual(before);
  expect((await sync(installation, connection)).run.status).toBe('succeeded');
  expect((await installation.compare(connection)).differences).toEqual([]);
});

test('a backfill never deletes: a record deleted at the source stays', async () => {
  const connection = await synced();
  const ids = await rows(warehouse, 'select id from finance.bills where connection_id = $1 limit 3', [
    connection,
  ]);
  for (const { id } of ids)
    await admin.execute({ kind: 'delete', connection, resource: 'bills', id: String(id) });
  const { run } = await backfill(installation, { connection, ...always });
  expect(run.streams.every(({ deleted }) => deleted === 0)).toBe(true);
  expect(
    await rows(warehouse, 'select id from finance.bills where connection_id = $1 and id = any($2)', [
      connection,
      ids.map(({ id }) => id),
    ]),
  ).toHaveLength(3);
});

test('a backfill does not restore a record with a tombstone, even if the list still shows it', async () => {
  const connection = await synced();
  const [{ id } = {}] = await rows(
    warehouse,
    'select id from finance.bills where connection_id = $1 limit 1',
    [connection],
  );
  const tombstone = [connection, id];
  await warehouse.pool.query('delete from finance.bills where connection_id = $1 and id = $2', tombstone);
  await warehouse.pool.query(
    `insert into sync.tombstones (connection_id, resource, record_id, version, deleted_at, source)
     values ($1, 'bills', $2, now() + interval '1 day', now(), 'event')`,
    tombstone,
  );
  const { run } = await backfill(installation, { connection, ...always, resources: ['bills'] });
  expect(run.streams[0]).toMatchObject({ inserted: 0, suppressed: 1 });
  expect(
    await rows(warehouse, 'select from finance.bills where connection_id = $1 and id = $2', tombstone),
  ).toEqual([]);
});

test('a backfill repairs damage to finance tables', async () => {
  const connection = await synced();
  for (const damage of [
    `update finance.bills set total_amount = total_amount + 1 where connection_id = $1`,
    `delete from finance.bill_lines where connection_id = $1 and position = 0`,
    `delete from finance.customers where connection_id = $1`,
    `update finance.subscription_items set amount = null where connection_id = $1`,
  ]) {
    await warehouse.pool.query(damage, [connection]);
  }
  expect((await installation.compare(connection)).differences).not.toEqual([]);
  await backfill(installation, { connection, ...always });
  const { differences } = await installation.compare(connection);
  // A record without updated_at is in no window.
  const undated = await withoutUpdatedAt(connection);
  expect(differences.filter((difference) => !undated.some((id) => difference.includes(id)))).toEqual([]);
});

test('from is inclusive and to is exclusive', async () => {
  const connection = await synced();
  const times = {
    before: '2011-02-28T23:59:59.999Z',
    first: '2011-03-01T00:00:00.000Z',
    last: '2011-05-31T23:59:59.999Z',
    after: '2011-06-01T00:00:00.000Z',
  };
  for (const [id, time] of Object.entries(times))
    await addLate(connection, 'bills', bill(id, { ...old, updated_at: `"${time}"` }));
  await backfill(installation, { connection, ...spring, resources: ['bills'] });
  expect(await idsOf(connection)).toEqual(['first', 'last']);
});

proofTest('a record between two windows is read by one of them, to the microsecond', async () => {
  const connection = await synced();
  const times = ['2011-03-30T23:59:59.999999Z', '2011-03-31T00:00:00Z', '2011-03-31T00:00:00.000001Z'];
  for (const time of times)
    await addLate(connection, 'bills', bill(time, { ...old, updated_at: `"${time}"` }));
  await backfill(installation, { connection, ...spring, resources: ['bills'] });
  expect(await idsOf(connection)).toEqual(times);
});

test('a backfill requests each window of each list, and nothing else', async () => {
  const connection = await synced();
  await admin.clearRequests();
  await backfill(installation, {
    connection,
    from: '2011-01-01',
    to: '2011-01-02T12:00:00Z',
    windowMilliseconds: 86_400_000,
    resources: ['expenses'],
  });
  const asked = (await admin.requests())
    .filter((request) => request.connection === connection)
    .map(({ path, query }) => {
      const parameters = new URLSearchParams(query);
      return [
        path,
        parameters.get('expense_type'),
        parameters.get('updated_at_min'),
        parameters.get('updated_at_max'),
      ];
    });
  const days = [
    [Date.parse('2011-01-01'), Date.parse('2011-01-02')],
    [Date.parse('2011-01-02'), Date.parse('2011-01-02T12:00:00Z') - 1],
  ].map((bounds) => bounds.map(String));
  expect(asked).toHaveLength(4);
  expect(asked).toEqual(
    expect.arrayContaining(
      ['expense', 'refund'].flatMap((type) => days.map((day) => ['/accounting/expenses', type, ...day])),
    ),
  );
});

proofTest('an unsupported list is reported as such, and none of its windows is left', async () => {
  const connection = await installation.connect({ platform: 'XERO' });
  const { run } = await backfill(installation, { connection, ...spring });
  expect(run.status).toBe('succeeded');
  expect(Object.values(statusesOf(run))).toContain('unsupported');
  expect(await windowsLeft(connection)).toBe(0);
});

test('a failed list does not stop the others, and the next backfill reads only its windows', async () => {
  const connection = await installation.connect();
  await admin.addFault({
    match: { connection, path: '/accounting/items' },
    fault: { kind: 'status', status: 400 },
  });
  const { run, failure } = await backfill(installation, { connection, ...spring });
  expect(failure).toBeDefined();
  expect(run.status).toBe('partial');
  expect(statusesOf(run)).toMatchObject({ items: 'failed', bills: 'succeeded' });
  expect(await windowsLeft(connection)).toBe(4);
  await admin.clearFaults();
  await admin.clearRequests();
  const again = await backfill(installation, { connection, ...spring });
  expect(again.run.status).toBe('succeeded');
  expect(new Set((await admin.requests()).map(({ path }) => path))).toEqual(new Set(['/accounting/items']));
});

test.for([
  ['dates in the wrong order', { from: '2011-06-01', to: '2011-03-01' }],
  ['no date at all', { from: 'spring', to: '2011-03-01' }],
  ['a window of a minute', { ...spring, windowMilliseconds: 60_000 }],
  ['more windows than are sensible', { from: '1990-01-01', to: '2020-01-01', windowMilliseconds: 3_600_000 }],
] as const)(
  '%s: the workflow fails at once with InvalidBackfill, and nothing is planned',
  async ([, input]) => {
    const connection = await installation.connect();
    const handle = await installation.client.workflow.start('backfillConnection', {
      workflowId: `backfill/${connection}/x`,
      taskQueue: 'daybook',
      args: [{ connection, ...input }],
    });
    await expect(handle.result()).rejects.toMatchObject({
      cause: { cause: { type: 'InvalidBackfill', nonRetryable: true } },
    });
    expect(await rows(warehouse, 'select from sync.runs where connection_id = $1', [connection])).toEqual([]);
    expect(await windowsLeft(connection)).toBe(0);
  },
);

proofTest(
  'a running backfill can be found by its kind, and its details show how many windows are left',
  async () => {
    const connection = await installation.connect();
    await admin.configure({ maximumLimit: 1 });
    const handle = await startBackfill(installation, { connection, ...always });
    expect(
      await eventually(async () => {
        const { currentDetails = '' } = await handle.query<{ currentDetails?: string }>(
          '__temporal_workflow_metadata',
        );
        return /^\| \w+ \| reading, \d+ windows left \|/m.test(currentDetails) ? currentDetails : undefined;
      }),
    ).toContain(`**${connection}**: reading`);
    expect(await readSearchAttributes(handle)).toMatchObject({
      DaybookConnection: connection,
      DaybookKind: 'backfill',
      DaybookPhase: 'reading',
    });
    await admin.configure({});
    await endOf(installation, handle);
    expect(await readSearchAttributes(handle)).toMatchObject({ DaybookPhase: 'succeeded' });
  },
);

const old = { updated_at: '"2011-04-10T08:00:00.000Z"', last_synced_at: '"2011-04-11T00:00:00.000Z"' };

async function synced(): Promise<string> {
  const connection = await installation.connect();
  expect((await sync(installation, connection)).run.status).toBe('succeeded');
  return connection;
}

/** Adds a record with a `last_synced_at` of its time, which no sync requests any more. */
async function addLate(
  connection: string,
  resource: 'bills' | 'expenses' | 'subscriptions',
  record: string,
): Promise<void> {
  await admin.execute({ kind: 'add', connection, resource, record, keepLastSyncedAt: true });
}

function watermarksOf(connection: string): Promise<Row[]> {
  return rows(
    warehouse,
    'select stream, watermark::text from sync.streams where connection_id = $1 order by stream',
    [connection],
  );
}

/** Ids of the bills of 2011. */
async function idsOf(connection: string): Promise<unknown[]> {
  const bills = await rows(
    warehouse,
    `select id from finance.bills where connection_id = $1 and updated_at < '2012-01-01' order by updated_at`,
    [connection],
  );
  return bills.map(({ id }) => id);
}

async function windowsLeft(connection: string): Promise<unknown> {
  const { left } = await row(
    warehouse,
    `select count(*) as left from sync.passes where connection_id = $1 and kind = 'backfill'`,
    [connection],
  );
  return left;
}

async function withoutUpdatedAt(connection: string): Promise<string[]> {
  const ids: string[] = [];
  for (const resource of ['bills', 'customers', 'subscriptions'] as const) {
    for (const line of await admin.content(connection, resource)) {
      const record = JSON.parse(line) as { id: string; updated_at?: string | null };
      if (typeof record.updated_at !== 'string') ids.push(record.id);
    }
  }
  return ids;
}
