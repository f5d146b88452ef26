import { afterEach, describe, expect, test } from 'vitest';
import { setToken } from '../../warehouse/connections/set-token.ts';
import { bill, expense, subscription } from '../support/finance-records.ts';
import { createInstallation, secretKey } from '../support/installation.ts';
import { proofTest } from '../support/proof-test.ts';
import { row, rows, type Row } from '../support/rows.ts';
import { statusesOf, sync, sumOverStreams } from '../support/sync.ts';

const installation = await createInstallation();
const { warehouse, admin } = installation;
await installation.startWorker();

afterEach(async () => {
  await admin.clearFaults();
  await admin.configure({});
});

describe('a sync after changes at the source', () => {
  test('lands changes, additions, and the announced deletions of every resource that announces them', async () => {
    const connection = await synced();
    await admin.activity({
      connection,
      changes: 4,
      touches: 4,
      deletes: 3,
      resources: ['bills', 'expenses', 'customers', 'items'],
    });
    await admin.activity({ connection, changes: 2, resources: ['bill_credit_memos', 'subscriptions'] });
    await admin.execute({ kind: 'add', connection, resource: 'bills', record: bill('new') });
    const { run } = await sync(installation, connection);
    expect(run.status).toBe('succeeded');
    expect(run.streams.find(({ stream }) => stream === 'events')).toMatchObject({ read: 12, deleted: 12 });
    const deleted = await rows(
      warehouse,
      'select resource, count(*) as records from finance.deleted_records where connection_id = $1 and source = $2 group by 1 order by 1',
      [connection, 'event'],
    );
    expect(deleted).toEqual(
      ['bills', 'customers', 'expenses', 'items'].map((resource) => ({ resource, records: 3 })),
    );
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  test('reads each list from its own watermark minus the lookback, and moves the watermark to the newest version', async () => {
    const connection = await synced();
    const before = await watermarksOf(connection);
    await admin.execute({ kind: 'touch', connection, resource: 'bills', every: 20 });
    await admin.clearRequests();
    const { run } = await sync(installation, connection);
    const floors = Object.fromEntries(
      (await admin.requests()).map(({ path, query }) => {
        const parameters = new URLSearchParams(query);
        const floor = parameters.get('last_synced_at_min') ?? parameters.get('updated_at_min');
        return [`${path} ${parameters.get('expense_type') ?? ''}`.trim(), Number(floor)];
      }),
    );
    // The lookback of ten minutes plus the tolerance of clocks; a day for versions that are the platform's times.
    const lookback = 661_000;
    const aDay = 86_461_000;
    expect(floors).toEqual({
      '/accounting/bills': Number(before.bills?.milliseconds) - lookback,
      '/accounting/expenses expense': Number(before.expenses?.milliseconds) - lookback,
      '/accounting/expenses refund': Number(before.refunds?.milliseconds) - lookback,
      '/accounting/bill_credit_memos': Number(before.bill_credit_memos?.milliseconds) - lookback,
      '/accounting/customers': Number(before.customers?.milliseconds) - lookback,
      '/accounting/items': Number(before.items?.milliseconds) - lookback,
      '/subscriptions': Number(before.subscriptions?.milliseconds) - aDay,
      '/events': 0,
    });
    const after = await watermarksOf(connection);
    const { newest } = await row(
      warehouse,
      'select max(last_synced_at)::text as newest from finance.bills where connection_id = $1',
      [connection],
    );
    expect(after.bills?.watermark).toBe(newest);
    expect(Number(after.bills?.milliseconds)).toBeGreaterThan(Number(before.bills?.milliseconds));
    expect(after.customers).toEqual(before.customers);
    expect(run.streams.find(({ stream }) => stream === 'bills')?.inserted).toBe(0);
  });

  proofTest('misses no record when a bulk re-check gives many the same last_synced_at', async () => {
    const connection = await synced();
    const record = (number: number): string =>
      bill(`bulk-${number}`, { last_synced_at: '"2027-01-01T00:00:00.000Z"' });
    const add = (number: number) =>
      admin.execute({
        kind: 'add',
        connection,
        resource: 'bills',
        keepLastSyncedAt: true,
        record: record(number),
      });
    await admin.configure({ maximumLimit: 7 });
    for (let number = 0; number < 20; number += 1) await add(number);
    await sync(installation, connection);
    // More records of the same time come after the watermark has reached it.
    for (let number = 20; number < 40; number += 1) await add(number);
    await sync(installation, connection, { resources: ['bills'] });
    const { bulk } = await row(
      warehouse,
      `select count(*) as bulk from finance.bills where connection_id = $1 and id like 'bulk-%'`,
      [connection],
    );
    expect(bulk).toBe(40);
  });

  test('reads late history with an old updated_at and a new last_synced_at', async () => {
    const connection = await synced();
    const updated_at = '"2011-04-10T08:00:00.000Z"';
    await admin.execute({ kind: 'add', connection, resource: 'bills', record: bill('late', { updated_at }) });
    await admin.execute({
      kind: 'add',
      connection,
      resource: 'expenses',
      record: expense('late', { updated_at, expense_type: '"refund"' }),
    });
    const { run } = await sync(installation, connection);
    expect(sumOverStreams(run, 'inserted')).toBe(2);
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  proofTest('reads subscriptions by their updated_at, the only time they have', async () => {
    const connection = await synced();
    const at = (time: string): string => subscription(`at-${time}`, { updated_at: `"${time}"` });
    const before = await watermarksOf(connection);
    const next = new Date(Number(before.subscriptions?.milliseconds) + 5_000).toISOString();
    await admin.execute({ kind: 'add', connection, resource: 'subscriptions', record: at(next) });
    await sync(installation, connection);
    expect((await watermarksOf(connection)).subscriptions?.milliseconds).toBe(Date.parse(next));
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  proofTest('restores a deleted record that was re-created', async () => {
    const connection = await synced();
    const [{ id } = {}] = await rows(
      warehouse,
      'select id from finance.bills where connection_id = $1 limit 1',
      [connection],
    );
    const record = { connection, resource: 'bills' as const, id: String(id) };
    await admin.execute({ kind: 'delete', ...record });
    await sync(installation, connection);
    expect(await deletedOf(connection)).toEqual([{ id }]);
    await admin.execute({ kind: 'recreate', ...record });
    await sync(installation, connection);
    expect(await deletedOf(connection)).toEqual([]);
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  proofTest('applies a deletion made between the read of a list and the read of the events', async () => {
    const connection = await synced();
    const [{ id } = {}] = await rows(
      warehouse,
      'select id from finance.bills where connection_id = $1 limit 1',
      [connection],
    );
    await admin.execute({
      kind: 'change',
      connection,
      resource: 'bills',
      id: String(id),
      patch: '{"memo":"last"}',
    });
    // Deleted after its page was answered, and before the events are requested.
    await admin.addFault({
      match: { connection, path: '/events' },
      times: 1,
      fault: {
        kind: 'mutate',
        commands: [{ kind: 'delete', connection, resource: 'bills', id: String(id), event: true }],
      },
    });
    await sync(installation, connection);
    expect(await deletedOf(connection)).toEqual([{ id }]);
    expect((await installation.compare(connection)).differences).toEqual([]);
  });
});

describe('an idle sync', () => {
  test('costs at most 8 requests and writes nothing to finance and history', async () => {
    const connection = await synced();
    // The first sync after changes moves the watermarks to where they stay.
    await admin.activity({ connection, changes: 2, deletes: 1, resources: ['bills'] });
    await sync(installation, connection);
    const before = await writesOf(connection);
    await admin.clearRequests();
    const { run } = await sync(installation, connection);
    expect(run.status).toBe('succeeded');
    const asked = (await admin.requests()).filter((request) => request.connection === connection);
    expect(asked.length).toBeLessThanOrEqual(8);
    expect(sumOverStreams(run, 'requests')).toBe(asked.length);
    expect(await writesOf(connection)).toEqual(before);
  });
});

describe('the stream of events', () => {
  test('is read after the lists, once for all resources', async () => {
    const connection = await synced();
    await admin.clearRequests();
    await sync(installation, connection);
    const paths = (await admin.requests()).map(({ path }) => path);
    expect(paths.filter((path) => path === '/events')).toHaveLength(1);
    expect(paths.at(-1)).toBe('/events');
  });

  proofTest('is read page by page, and continues after an interruption', async () => {
    const connection = await synced();
    await admin.activity({ connection, deletes: 10, resources: ['bills'] });
    await admin.configure({ maximumLimit: 3 });
    await admin.addFault({
      match: { connection, path: '/events' },
      after: 2,
      times: 1,
      fault: { kind: 'status', status: 500 },
    });
    const { run } = await sync(installation, connection);
    expect(run.status).toBe('succeeded');
    expect(run.streams.find(({ stream }) => stream === 'events')).toMatchObject({
      pages: 4,
      read: 10,
      deleted: 10,
      // One of them fails, and before each page, which names no company, another asks for the company.
      requests: 9,
    });
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  test('leaves the lists complete when it fails: the run is partial, and the next sync reads the events', async () => {
    const connection = await synced();
    await admin.activity({ connection, changes: 2, deletes: 2, resources: ['bills'] });
    await admin.addFault({ match: { connection, path: '/events' }, fault: { kind: 'status', status: 400 } });
    const { run } = await sync(installation, connection);
    expect(run.status).toBe('partial');
    expect(statusesOf(run)).toMatchObject({ bills: 'succeeded', events: 'failed' });
    await admin.clearFaults();
    expect((await sync(installation, connection)).run.status).toBe('succeeded');
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  test('is not read when every list failed, so that a token of another company deletes nothing', async () => {
    const connection = await synced();
    const other = await synced();
    await admin.activity({ connection: other, deletes: 3 });
    await setToken(warehouse, secretKey, { connectionId: connection, token: `token-of-${other}` });
    await admin.clearRequests();
    const { run } = await sync(installation, connection);
    expect(run.status).toBe('failed');
    expect((await admin.requests()).filter(({ path }) => path === '/events')).toEqual([]);
    expect(await deletedOf(connection)).toEqual([]);
  });

  proofTest('is read on a platform without events too, in one request', async () => {
    const connection = await installation.connect({ platform: 'XERO' });
    await admin.clearRequests();
    const { run } = await sync(installation, connection);
    expect(run.streams.find(({ stream }) => stream === 'events')).toMatchObject({
      status: 'succeeded',
      requests: 1,
      read: 0,
    });
  });
});

async function synced(): Promise<string> {
  const connection = await installation.connect();
  expect((await sync(installation, connection)).run.status).toBe('succeeded');
  return connection;
}

async function watermarksOf(connection: string): Promise<Record<string, Row>> {
  const streams = await rows(
    warehouse,
    `select stream, watermark::text, floor(extract(epoch from watermark) * 1000)::bigint as milliseconds
     from sync.streams where connection_id = $1`,
    [connection],
  );
  return Object.fromEntries(streams.map((stream) => [String(stream.stream), stream]));
}

function deletedOf(connection: string): Promise<Row[]> {
  return rows(warehouse, 'select id from finance.deleted_records where connection_id = $1', [connection]);
}

/** All writes of Postgres to tables of finance or history so far. */
async function writesOf(connection: string): Promise<unknown> {
  const tables = await rows(
    warehouse,
    `select schemaname || '.' || relname as name from pg_stat_user_tables
     where schemaname in ('finance', 'history') order by 1`,
  );
  return Promise.all(
    tables.map(({ name }) =>
      row(
        warehouse,
        `select count(*) as rows, max(xmin::text::bigint) as newest from ${String(name)} where connection_id = $1`,
        [connection],
      ),
    ),
  );
}
