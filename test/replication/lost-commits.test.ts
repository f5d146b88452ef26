import { expect, test } from 'vitest';
import { bill, customer } from '../support/finance-records.ts';
import { resourceNamed } from '../../resources/index.ts';
import { removeConnection } from '../../warehouse/connections/remove-connection.ts';
import { CommitsLost } from '../../warehouse/errors.ts';
import { pruneWarehouse } from '../../warehouse/retention/prune-warehouse.ts';
import { losingCommit } from '../support/losing-commits.ts';
import { buildDeletionEvent } from '../support/land-events.ts';
import { rows, type Row } from '../support/rows.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { at, eventsPage, page, type Answer, type ScriptedService } from './scripted-service.ts';
import { erase, rebuildBills, replayOne } from './as-commands.ts';
import { createServiceStarter } from './serve.ts';

// A standby without the last commits takes over, and the workflow remembers their results.
const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);

test('a sync that loses the commit of its last page is partial, and the next sync reads the page', async () => {
  const service = await withLostPage(
    `select from sync.run_streams where connection_id = $1 and stream = 'bills' and status = 'succeeded'`,
  );
  expect(await service.sync(['bills', 'customers'])).toMatchObject({
    status: 'partial',
    streams: [{ stream: 'bills', status: 'failed', failure_type: 'NotRead' }, {}, {}],
  });
  expect(await service.sync(['bills', 'customers'])).toMatchObject({ status: 'succeeded' });
  expect(await service.ids('bills')).toEqual(['one', 'two']);
});

test('a tick that loses the record of a list it read is partial, whatever an earlier execution of its workflow read', async () => {
  const service = await serve();
  service.lists = { bills: [bill('one')], customers: [customer('c')] };
  const both = ['bills', 'customers'];
  expect(await service.tick(both)).toMatchObject({ status: 'succeeded' });
  service.onList = async (resource) => {
    if (resource === 'customers')
      await service.rows(
        `delete from sync.run_streams s using sync.runs r
         where r.connection_id = $1 and s.run_id = r.run_id and r.status = 'running' and s.stream = 'bills'`,
      );
    return undefined;
  };
  const { id } = await service.tick(both);
  const [run] = await service.rows(
    `select status, failure from sync.runs where connection_id = $1 and run_id = '${String(id)}'`,
  );
  expect(run).toEqual({
    status: 'partial',
    failure: expect.stringContaining('That bills was read is not written') as string,
  });
});

test('a backfill that loses the commit of its last page is partial, and the next backfill reads the page', async () => {
  const service = await withLostPage(
    `select from finance.bills b where connection_id = $1 and id = 'two' and not exists (
       select from sync.passes p where p.connection_id = b.connection_id and p.stream = 'bills'
     )`,
  );
  const both = ['bills', 'customers'];
  const days = { from: '2024-01-01', to: '2024-01-20' };
  expect(await service.backfill(both, days)).toMatchObject({ status: 'partial' });
  expect(await service.backfill(both, days)).toMatchObject({ status: 'succeeded' });
  expect(await service.ids('bills')).toEqual(['one', 'two']);
});

test.each(['sync', 'reconcile'] as const)(
  'a page lost while the next one is awaited is reread by the %s',
  async (run) => {
    const { service, bills } = await withLostMiddle();
    expect(await service[run](['bills'])).toMatchObject({ status: 'succeeded' });
    expect(await service.ids('bills')).toEqual(bills);
  },
);

test('a page lost while the next one is awaited is reread by a backfill', async () => {
  const { service, bills } = await withLostMiddle();
  const days = { from: '2024-01-01', to: '2024-01-20' };
  expect(await service.backfill(['bills'], days)).toMatchObject({ status: 'succeeded' });
  expect(await service.ids('bills')).toEqual(bills);
});

test('a page of events lost while the next one is awaited is reread', async () => {
  const service = await serve();
  const held = ['a', 'b', 'c', 'd'];
  service.lists = { bills: held.map((id) => bill(id)) };
  await service.sync(['bills']);
  const now = new Date().toISOString();
  const pages = held.slice(0, 3).map((id) => [buildDeletionEvent(id, now)]);
  loseMiddle(service, 'events', (place) => eventsPage(pages[place] ?? [], cursorAfter(place)));
  expect(await service.sync(['bills'])).toMatchObject({ status: 'succeeded' });
  expect(await service.ids('bills')).toEqual(['d']);
});

test.each(['DELETED', 'UPDATED'] as const)(
  'a webhook for a bill that was %s is not closed when the commit of its effect is lost',
  async (code) => {
    const service = await serve();
    service.lists = { bills: [bill('a'), bill('b')] };
    await service.sync(['bills']);
    const edited = bill('a', { memo: '"new"', last_synced_at: at() });
    service.lists.bills = [...(code === 'DELETED' ? [] : [edited]), bill('b')];
    const losing = losingCommit(warehouse, 'lock resource');
    service.warehouse = losing;
    await service.deliverWebhook(code, edited);
    expect(losing.isLost()).toBe(true);
    await service.applyWebhooks();
    const held = await service.rows(
      'select id, memo from finance.bills where connection_id = $1 order by id',
    );
    expect(held).toMatchObject(code === 'DELETED' ? [{ id: 'b' }] : [{ memo: 'new' }, { id: 'b' }]);
  },
);

test('a backfill that loses its plan fails, whatever an earlier equal backfill read', async () => {
  const service = await serve();
  const days = { from: '2024-01-01', to: '2024-02-01' };
  service.lists = { bills: [bill('one')] };
  expect(await service.backfill(['bills'], days)).toMatchObject({ status: 'succeeded' });
  expect(await service.backfill(['bills'], days)).toMatchObject({ status: 'succeeded' });
  const losing = losingCommit(warehouse, 'generate_series(0');
  service.warehouse = losing;
  expect(await service.backfill(['bills'], days)).toMatchObject({ status: 'failed' });
  expect(losing.isLost()).toBe(true);
});

test('a rebuild that loses a batch fails', async () => {
  const service = await serve();
  service.lists = { bills: Array.from({ length: 2_300 }, (_, place) => bill(`b${10_000 + place}`)) };
  await service.sync(['bills']);
  await warehouse.pool.query(
    `update finance.bills set total_amount = 999999 where connection_id = $1 and id = 'b10001'`,
    [service.connection],
  );
  const losing = losingCommit(warehouse, 'lock resource');
  await expect(rebuildBills(losing, service)).rejects.toThrow(CommitsLost);
  expect(losing.isLost()).toBe(true);
  expect(await readRun(service, 'rebuild')).toEqual({ status: 'failed' });
  await rebuildBills(warehouse, service);
  expect(
    await service.rows('select from finance.bills where connection_id = $1 and total_amount = 999999'),
  ).toEqual([]);
});

test('a rebuild that loses a batch of pure deletions fails', async () => {
  const service = await serve();
  const held = Array.from({ length: 2_100 }, (_, place) => `b${10_000 + place}`);
  service.lists = { bills: [...held.map((id) => bill(id)), bill('z')] };
  await service.sync(['bills']);
  await warehouse.pool.query(`drop table if exists public.restored`);
  await warehouse.pool.query(
    `create table public.restored as select * from finance.bills where connection_id = '${service.connection}' and id <> 'z'`,
  );
  service.events = held.map((id) => buildDeletionEvent(id, new Date().toISOString()));
  service.lists.bills = [bill('z')];
  await service.sync(['bills']);
  await warehouse.pool.query('insert into finance.bills select * from public.restored');
  const losing = losingCommit(warehouse, 'lock resource');
  await expect(rebuildBills(losing, service)).rejects.toThrow(CommitsLost);
  expect(losing.isLost()).toBe(true);
  expect(await readRun(service, 'rebuild')).toEqual({ status: 'failed' });
  await rebuildBills(warehouse, service);
  expect(await service.ids('bills')).toEqual(['z']);
});

test('a rebuild that loses its last batch fails', async () => {
  const service = await serve();
  service.lists = { bills: [bill('one')] };
  await service.sync(['bills']);
  const losing = losingCommit(warehouse, 'insert into finance.bills');
  await expect(rebuildBills(losing, service)).rejects.toThrow(CommitsLost);
  expect(losing.isLost()).toBe(true);
  expect(await readRun(service, 'rebuild')).toEqual({ status: 'failed' });
});

test('an erasure whose commit is lost fails', async () => {
  const service = await serve();
  service.lists = { bills: [bill('one')] };
  await service.sync(['bills']);
  const losing = losingCommit(warehouse, 'lock resource');
  await expect(erase(losing, service, { resource: resourceNamed('bills'), id: 'one' })).rejects.toThrow(
    CommitsLost,
  );
  expect(losing.isLost()).toBe(true);
  expect(await readRun(service, 'erase')).toEqual({ status: 'failed' });
  expect(await service.ids('bills')).toEqual(['one']);
});

test('a replay whose landing is lost fails, and its quarantine entry stays open', async () => {
  const service = await serve();
  service.lists = { bills: [bill('a'), bill('b', { total_amount: '"much"' })] };
  await service.sync(['bills']);
  service.lists.bills = [bill('a'), bill('b')];
  const losing = losingCommit(warehouse, 'lock resource');
  await expect(replayOne(losing, service)).rejects.toThrow(CommitsLost);
  expect(losing.isLost()).toBe(true);
  expect(await readRun(service, 'replay')).toEqual({ status: 'failed' });
  expect(await readEntries(service)).toEqual([{ record_id: 'b', status: 'open' }]);
  await replayOne(warehouse, service);
  expect(await service.ids('bills')).toEqual(['a', 'b']);
  expect(await readRun(service, 'replay')).toEqual({ status: 'succeeded' });
});

const reconcileRequest = 'reconcile_wanted_at = greatest';

test.each([
  ['whose record the service refuses', 'DELETED', () => ({ status: 404, body: '{}' })],
  ['about an edit of a record that is gone', 'UPDATED', undefined],
  ['that announces a deletion too early', 'DELETED', undefined],
] as const)(
  'a webhook %s is applied again when its reconcile request is lost',
  async (what, code, onFetch) => {
    const service = await serve();
    service.lists = { bills: [bill('a'), bill('b')] };
    await service.sync(['bills']);
    if (!what.startsWith('that')) service.lists.bills = [bill('b')];
    if (onFetch !== undefined) service.onFetch = onFetch;
    const losing = losingCommit(warehouse, reconcileRequest);
    service.warehouse = losing;
    await service.deliverWebhook(code, bill('a', { last_synced_at: at() })).catch(() => undefined);
    service.warehouse = warehouse;
    expect(losing.isLost()).toBe(true);
    await service.applyWebhooks();
    expect(await service.isReconcileWanted()).toBe(true);
  },
);

test('a quarantine entry for a record that is gone stays open when its reconcile request is lost', async () => {
  const service = await serve();
  service.lists = { bills: [bill('a'), bill('b')] };
  await service.sync(['bills']);
  service.lists.bills = [bill('a', { memo: '7', last_synced_at: at(-1_000) }), bill('b')];
  await service.sync(['bills']);
  service.lists.bills = [bill('b')];
  const losing = losingCommit(warehouse, reconcileRequest);
  await expect(replayOne(losing, service)).rejects.toThrow(CommitsLost);
  expect(losing.isLost()).toBe(true);
  expect(await readRun(service, 'replay')).toEqual({ status: 'failed' });
  expect(await readEntries(service)).toEqual([{ record_id: 'a', status: 'open' }]);
  await replayOne(warehouse, service);
  expect(await service.isReconcileWanted()).toBe(true);
});

test('a deletion webhook that names no record is not stored when its reconcile request is lost', async () => {
  const service = await serve();
  service.lists = { bills: [bill('a'), bill('b')] };
  await service.sync(['bills']);
  const losing = losingCommit(warehouse, reconcileRequest);
  service.warehouse = losing;
  await service.deliverWebhook('DELETED', '{}');
  service.warehouse = warehouse;
  expect(losing.isLost()).toBe(true);
  expect(await service.rows('select code from sync.webhook_inbox where connection_id = $1')).toEqual([]);
  await service.deliverWebhook('DELETED', '{}');
  expect(await service.isReconcileWanted()).toBe(true);
});

test('a reconcile whose findings are lost keeps the reconcile request that it answers', async () => {
  const service = await serve();
  const second = Math.floor(Date.now() / 1_000) * 1_000 - 60_000;
  const [a, b, c] = [bill('a', { last_synced_at: stamp(second + 300) }), bill('b'), bill('c')];
  service.lists = { bills: [a, b, c] };
  await service.sync(['bills']);
  service.lists.bills = [b, c];
  service.events = [buildDeletionEvent('a', new Date(second).toISOString().replace('.000', ''))];
  await service.sync(['bills']);
  expect(await service.isReconcileWanted('bills')).toBe(true);
  const losing = losingCommit(warehouse, 'insert into sync.discrepancies');
  service.warehouse = losing;
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'partial' });
  service.warehouse = warehouse;
  expect(losing.isLost()).toBe(true);
  expect(await service.isReconcileWanted('bills')).toBe(true);
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'succeeded' });
  expect(await service.ids('bills')).toEqual(['b', 'c']);
  expect(await service.isReconcileWanted('bills')).toBe(false);
});

const runInsert = 'insert into "sync"."runs"';

test('a command whose first commit is lost fails with a message', async () => {
  const service = await serve();
  service.lists = { bills: [bill('a')] };
  await service.sync(['bills']);
  const losing = losingCommit(warehouse, runInsert);
  await expect(rebuildBills(losing, service)).rejects.toThrow(CommitsLost);
  expect(losing.isLost()).toBe(true);
});

test('webhooks whose run is lost are applied by the next run', async () => {
  const service = await serve();
  service.lists = { bills: [bill('a'), bill('b')] };
  await service.sync(['bills']);
  service.lists.bills = [bill('b')];
  const losing = losingCommit(warehouse, runInsert);
  service.warehouse = losing;
  await service.deliverWebhook('DELETED', bill('a')).catch(() => undefined);
  service.warehouse = warehouse;
  expect(losing.isLost()).toBe(true);
  await service.applyWebhooks();
  expect(await service.ids('bills')).toEqual(['b']);
});

test('a removal whose first commit is lost removes nothing, and fails with a message', async () => {
  const service = await serve();
  service.lists = { bills: [bill('one')] };
  await service.sync(['bills']);
  const { connection: connectionId } = service;
  const losing = losingCommit(warehouse, 'insert into sync.removed_runs');
  await expect(removeConnection(losing, { connectionId, keepData: false })).rejects.toThrow(CommitsLost);
  expect(losing.isLost()).toBe(true);
  expect(await service.sync(['bills'])).toMatchObject({ status: 'succeeded' });
});

test.each([
  ['what is known of the months', 'insert into history.kept_stream_months as kept'],
  ['runs that went', 'removed_1 as ('],
  ['quiet runs that were counted', 'insert into sync.quiet_days'],
  ['old versions', 'old as materialized'],
])(
  'a prune that loses a batch of %s records no progress, and the next prune repeats it',
  async (_, statement) => {
    const service = await serve();
    service.lists = { bills: [bill('one')] };
    await service.sync(['bills']);
    service.lists.bills = [bill('one', { memo: '"new"', last_synced_at: at(1_000) })];
    for (let run = 0; run < 3; run += 1) await service.sync(['bills']);
    const months = `select stream, month, outcome from history.stream_months where connection_id = $1 order by 1, 2`;
    const known = await service.rows(months);
    expect(known.length).toBeGreaterThan(0);
    const noted = `select name, value from sync.settings where name in ('stream_months_kept_until', 'history_pruned_until', 'quiet_runs_folded_until')`;
    await warehouse.pool.query(`delete from sync.settings where name like '%_until'`);
    const losing = losingCommit(warehouse, statement);
    const keep = { runsMilliseconds: 0, quietRunsMilliseconds: 0, historyMilliseconds: 0 };
    await expect(pruneWarehouse(losing, { keep, dryRun: false })).rejects.toThrow(CommitsLost);
    expect(losing.isLost()).toBe(true);
    const before = await rows(warehouse, noted);
    expect(before.length).toBeLessThan(3);
    await pruneWarehouse(warehouse, { keep, dryRun: false });
    expect(await rows(warehouse, noted)).toHaveLength(3);
    expect(await service.rows(months)).toEqual(known);
    const versions = 'select from history.record_versions where connection_id = $1';
    expect(await service.rows(versions)).toHaveLength(1);
    const counts = `select name from sync.settings where name like 'batches of %'`;
    expect(await rows(warehouse, counts)).toHaveLength(1);
    await warehouse.pool.query(
      `update sync.settings set value = jsonb_set(value::jsonb, '{began}', '"2020-01-01"') where name like 'batches of %'`,
    );
    await pruneWarehouse(warehouse, { keep, dryRun: false });
    expect(await rows(warehouse, counts)).toEqual([]);
  },
);

async function readRun(service: ScriptedService, kind: string): Promise<Row | undefined> {
  const [run] = await service.rows(
    `select status from sync.runs where connection_id = $1 and kind = '${kind}' order by started_at desc limit 1`,
  );
  return run;
}

function readEntries(service: ScriptedService): Promise<Row[]> {
  return service.rows('select record_id, status from sync.quarantine where connection_id = $1');
}

/** Bills have three pages. The commit of the second is lost while the third is requested. */
async function withLostMiddle(): Promise<{ service: ScriptedService; bills: string[] }> {
  const service = await serve();
  service.lists = { customers: [customer('c')] };
  const names = ['one', 'three', 'two'];
  const bills = ['one', 'two', 'three'].map((id, place) =>
    bill(id, { last_synced_at: at(place * 1_000 - 60_000) }),
  );
  loseMiddle(service, 'bills', (place) =>
    page(service, 'bills', bills.slice(place, place + 1), cursorAfter(place)),
  );
  return { service, bills: names };
}

/** The list of `stream` has three pages. The standby that takes over while the third is answered lacks the second. */
function loseMiddle(service: ScriptedService, stream: string, pageAt: (place: number) => Answer): void {
  const landed = (cursor: string): Promise<unknown> =>
    expect
      .poll(
        () =>
          service.rows(
            `select from sync.passes where connection_id = $1 and stream = '${stream}' and cursor = '${cursor}'`,
          ),
        { timeout: 20_000 },
      )
      .toHaveLength(1);
  let isLost = false;
  const answer = async (query: URLSearchParams): Promise<Answer> => {
    const place = cursors.indexOf(query.get('cursor') ?? '');
    if (!isLost && place === 1) {
      await landed('second');
      await replicate(service, stream);
    }
    if (!isLost && place === 2) {
      await landed('third');
      await takeOver(service, stream);
      isLost = true;
    }
    return pageAt(place);
  };
  if (stream === 'events') service.onEvents = answer;
  else service.onList = (resource, query) => (resource === stream ? answer(query) : undefined);
}

const cursors = ['', 'second', 'third'];

function cursorAfter(place: number): string | null {
  return cursors[place + 1] ?? null;
}

/** Bills have two pages. The second is lost when `isRead` finds a row, while customers are requested. */
async function withLostPage(isRead: string): Promise<ScriptedService> {
  const service = await serve();
  const bills = ['one', 'two'].map((id, place) => bill(id, { last_synced_at: at(place * 1_000 - 60_000) }));
  service.lists = { bills, customers: [customer('c')] };
  const pageTwo = (): ReturnType<typeof page> => page(service, 'bills', bills.slice(1));
  service.onList = async (resource, query) => {
    if (resource === 'customers') {
      await expect.poll(() => service.rows(isRead), { timeout: 20_000 }).toHaveLength(1);
      await takeOver(service, 'bills');
      service.onList = (_resource, later) => (later.get('cursor') === 'two' ? pageTwo() : undefined);
      return undefined;
    }
    if (query.get('cursor') === null) return page(service, 'bills', bills.slice(0, 1), 'two');
    await expect.poll(() => service.ids('bills'), { timeout: 20_000 }).toEqual(['one']);
    await replicate(service, 'bills');
    return pageTwo();
  };
  return service;
}

/** The rows that each commit that lands a page of the stream writes, by table. */
function writtenBy(stream: string): Record<string, string> {
  return {
    'sync.streams': `stream = '${stream}'`,
    'sync.passes': `stream = '${stream}'`,
    'sync.run_streams': `stream = '${stream}'`,
    'sync.listed_pages': `stream = '${stream}'`,
    'sync.tombstones': 'true',
    'finance.bills': 'true',
    'finance.bill_lines': 'true',
    'history.record_versions': `resource = 'bills'`,
  };
}

async function replicate({ connection }: ScriptedService, stream: string): Promise<void> {
  for (const [table, rows] of Object.entries(writtenBy(stream))) {
    await warehouse.pool.query(`drop table if exists ${standbyTable(table)}`);
    await warehouse.pool.query(
      `create table ${standbyTable(table)} as select * from ${table} where connection_id = '${connection}' and ${rows}`,
    );
  }
}

async function takeOver({ connection }: ScriptedService, stream: string): Promise<void> {
  for (const [table, rows] of Object.entries(writtenBy(stream))) {
    await warehouse.pool.query(`delete from ${table} where connection_id = '${connection}' and ${rows}`);
    await warehouse.pool.query(`insert into ${table} select * from ${standbyTable(table)}`);
  }
}

function standbyTable(table: string): string {
  return `public.standby_${table.replace('.', '_')}`;
}

function stamp(time: number): string {
  return `"${new Date(time).toISOString()}"`;
}
