import { expect, test } from 'vitest';
import { bill } from '../support/finance-records.ts';
import { deletionOf } from '../support/land-events.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { addTombstone } from '../support/tombstone.ts';
import { rebuildBills } from './as-commands.ts';
import type { ScriptedService } from './scripted-service.ts';
import { servicesOf } from './serve.ts';

// Somebody deleted the row of a bill here and left its lines.
const { warehouse } = await createTestDatabase();
const serve = servicesOf(warehouse);

test('the event of the deletion takes the lines that were left', async () => {
  const service = await withLostBill();
  service.lists.bills = [bill('b')];
  service.events = [deletionOf('a', new Date().toISOString())];
  await service.sync(['bills']);
  expect(await linesOf(service)).toEqual(['b']);
});

test('a reconcile finds that it is gone unannounced: its lines go, and a rebuild does not bring it back', async () => {
  const service = await withLostBill();
  service.lists.bills = [bill('b')];
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'succeeded' });
  expect([await linesOf(service), await deletedOf(service)]).toEqual([['b'], ['a']]);
  expect(
    await service.rows('select record_id, kind, status from sync.discrepancies where connection_id = $1'),
  ).toEqual([{ record_id: 'a', kind: 'extra', status: 'repaired' }]);
  expect(await aliveInHistory(service)).toEqual(['b']);
  await rebuildBills(warehouse, service);
  expect([await service.ids('bills'), await deletedOf(service)]).toEqual([['b'], ['a']]);
});

test('what its list and its fetch show nowhere counts with the rows: where all are gone, a reconcile asks', async () => {
  const service = await withLostBill();
  service.lists.bills = [];
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'partial' });
  expect([await service.ids('bills'), await aliveInHistory(service)]).toEqual([['b'], ['a', 'b']]);
});

test('where more rows are lost than are left, those are not all there are, and a reconcile does not ask', async () => {
  const service = await withLostBill(['a', 'c', 'd', 'e']);
  service.lists.bills = [bill('b')];
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'succeeded' });
  expect([await service.ids('bills'), await aliveInHistory(service)]).toEqual([['b'], ['b']]);
});

test('a reconcile keeps the lines of what lives at the source, which has its row again', async () => {
  const service = await withLostBill();
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'succeeded' });
  expect(await linesOf(service)).toEqual(['a', 'b']);
  expect(
    await service.rows('select record_id, kind from sync.discrepancies where connection_id = $1'),
  ).toEqual([{ record_id: 'a', kind: 'missing' }]);
});

test('a sync that brings a lost row again adds no version to history, and takes the lines that were left', async () => {
  const service = await withLostBill();
  service.lists.bills = [bill('b'), bill('a', { last_synced_at: `"${new Date().toISOString()}"` })];
  const { status } = await service.sync(['bills']);
  expect([status, await service.ids('bills')]).toEqual(['succeeded', ['a', 'b']]);
  expect(await versionsOf(service, 'a')).toEqual(['upsert']);
});

test('a record that had been made again is not among the deleted after a rebuild, though its old event came again', async () => {
  const service = await withBillMadeAgain();
  await service.rows(`delete from finance.bills where connection_id = $1 and id = 'a'`);
  await service.sync(['bills']);
  await rebuildBills(warehouse, service);
  expect([await service.ids('bills'), await deletedOf(service)]).toEqual([['a', 'b'], []]);
});

test('a record that was deleted and made again as it was, between two syncs, outlives a rebuild and its old event', async () => {
  const service = await serve();
  const a = (minutes: number): string => bill('a', { last_synced_at: `"${minutesAgo(minutes)}"` });
  service.lists = { bills: [a(90), bill('b')] };
  await service.sync(['bills']);
  service.events = [deletionOf('a', minutesAgo(80))];
  service.lists.bills = [a(70), bill('b', { last_synced_at: `"${minutesAgo(0)}"` })];
  await service.sync(['bills']);
  await service.rows('delete from finance.bills where connection_id = $1');
  await rebuildBills(warehouse, service);
  const { status } = await service.sync(['bills']);
  expect([status, await service.ids('bills'), await deletedOf(service)]).toEqual([
    'succeeded',
    ['a', 'b'],
    [],
  ]);
});

test('a sync does not take a row that somebody has restored for what it reads', async () => {
  const service = await serve();
  service.lists = { bills: [bill('a', { last_synced_at: `"${minutesAgo(90)}"` })] };
  await service.sync(['bills']);
  const { connection } = service;
  await warehouse.pool.query(
    `create table public.yesterday as select * from finance.bills where connection_id = '${connection}'`,
  );
  service.lists.bills = [
    bill('a', { last_synced_at: `"${minutesAgo(1)}"`, memo: '"today"', line_items: '[]' }),
  ];
  await service.sync(['bills']);
  await service.rows('delete from finance.bills where connection_id = $1');
  await service.rows('insert into finance.bills select * from public.yesterday where connection_id = $1');
  const { status } = await service.sync(['bills']);
  expect([
    status,
    await service.rows('select memo from finance.bills where connection_id = $1'),
    await linesOf(service),
    await versionsOf(service, 'a'),
  ]).toEqual(['succeeded', [{ memo: 'today' }], [], ['upsert', 'upsert']]);
});

test('a reconcile that meets a record as it is held takes it from the deleted', async () => {
  const service = await withBillMadeAgain();
  await addTombstone(warehouse, {
    connectionId: service.connection,
    recordId: 'a',
    version: minutesAgo(80),
  });
  expect(await deletedOf(service)).toEqual(['a']);
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'succeeded' });
  expect([await service.ids('bills'), await deletedOf(service)]).toEqual([['a', 'b'], []]);
});

async function withLostBill(lost: readonly string[] = ['a']): Promise<ScriptedService> {
  const service = await serve();
  service.lists = { bills: [...lost, 'b'].map((id) => bill(id)) };
  await service.sync(['bills']);
  for (const id of lost)
    await service.rows(`delete from finance.bills where connection_id = $1 and id = '${id}'`);
  expect(await linesOf(service)).toEqual([...lost, 'b'].sort());
  return service;
}

test('a record that was made again, whose row was lost, and that its old event buried, ends in history when it is gone', async () => {
  const service = await withBillMadeAgain();
  await service.rows(`delete from finance.bills where connection_id = $1 and id = 'a'`);
  await service.sync(['bills']);
  expect(await deletedOf(service)).toEqual(['a']);
  service.lists.bills = [bill('b', { last_synced_at: `"${minutesAgo(0)}"` })];
  expect((await service.reconcile(['bills'])).status).toBe('succeeded');
  expect(await aliveInHistory(service)).toEqual(['b']);
});

/** Bill a was deleted, which was announced, and recreated. The watermark is past it. */
async function withBillMadeAgain(): Promise<ScriptedService> {
  const service = await serve();
  service.lists = { bills: [bill('a', { last_synced_at: `"${minutesAgo(90)}"` }), bill('b')] };
  await service.sync(['bills']);
  service.events = [deletionOf('a', minutesAgo(80))];
  service.lists.bills = [bill('b')];
  await service.sync(['bills']);
  expect(await deletedOf(service)).toEqual(['a']);
  const again = bill('a', { last_synced_at: `"${minutesAgo(70)}"`, memo: '"again"' });
  service.lists.bills = [again, bill('b', { last_synced_at: `"${minutesAgo(0)}"` })];
  await service.sync(['bills']);
  expect([await service.ids('bills'), await deletedOf(service)]).toEqual([['a', 'b'], []]);
  return service;
}

async function deletedOf(service: ScriptedService): Promise<unknown[]> {
  const deleted = await service.rows(
    'select id from finance.deleted_records where connection_id = $1 order by 1',
  );
  return deleted.map(({ id }) => id);
}

async function aliveInHistory(service: ScriptedService): Promise<unknown[]> {
  const alive = await service.rows(
    `select record_id as id from history.as_of('bills', now()) where connection_id = $1 order by 1`,
  );
  return alive.map(({ id }) => id);
}

async function linesOf(service: ScriptedService): Promise<unknown[]> {
  const lines = await service.rows(
    'select distinct bill_id from finance.bill_lines where connection_id = $1 order by 1',
  );
  return lines.map(({ bill_id: id }) => id);
}

async function versionsOf(service: ScriptedService, id: string): Promise<unknown[]> {
  const versions = await service.rows(
    `select op from history.record_versions where connection_id = $1 and record_id = '${id}' order by recorded_at`,
  );
  return versions.map(({ op }) => op);
}

function minutesAgo(minutes: number): string {
  return new Date(Date.now() - minutes * 60_000).toISOString();
}
