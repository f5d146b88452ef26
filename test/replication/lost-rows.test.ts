import { expect, test } from 'vitest';
import { bill } from '../support/finance-records.ts';
import { buildDeletionEvent } from '../support/land-events.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { addTombstone } from '../support/tombstone.ts';
import { rebuildBills } from './as-commands.ts';
import type { ScriptedService } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';

// Somebody deleted the row of a bill here and left its lines.
const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);

test('a deletion event for a lost row deletes its leftover lines', async () => {
  const service = await withLostBill();
  service.lists.bills = [bill('b')];
  service.events = [buildDeletionEvent('a', new Date().toISOString())];
  await service.sync(['bills']);
  expect(await readBillsWithLines(service)).toEqual(['b']);
});

test('a reconcile finds an unannounced deletion of a lost row, and a rebuild does not restore the row', async () => {
  const service = await withLostBill();
  service.lists.bills = [bill('b')];
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'succeeded' });
  expect([await readBillsWithLines(service), await readDeletedIds(service)]).toEqual([['b'], ['a']]);
  expect(
    await service.rows('select record_id, kind, status from sync.discrepancies where connection_id = $1'),
  ).toEqual([{ record_id: 'a', kind: 'extra', status: 'repaired' }]);
  expect(await aliveInHistory(service)).toEqual(['b']);
  await rebuildBills(warehouse, service);
  expect([await service.ids('bills'), await readDeletedIds(service)]).toEqual([['b'], ['a']]);
});

test('a reconcile counts lost rows as deletions, and asks for approval when all records are gone', async () => {
  const service = await withLostBill();
  service.lists.bills = [];
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'partial' });
  expect([await service.ids('bills'), await aliveInHistory(service)]).toEqual([['b'], ['a', 'b']]);
});

test('a reconcile that finds more lost rows than held rows does not ask for approval while some records live', async () => {
  const service = await withLostBill(['a', 'c', 'd', 'e']);
  service.lists.bills = [bill('b')];
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'succeeded' });
  expect([await service.ids('bills'), await aliveInHistory(service)]).toEqual([['b'], ['b']]);
});

test('a reconcile restores a lost row that lives at the source, and keeps its lines', async () => {
  const service = await withLostBill();
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'succeeded' });
  expect(await readBillsWithLines(service)).toEqual(['a', 'b']);
  expect(
    await service.rows('select record_id, kind from sync.discrepancies where connection_id = $1'),
  ).toEqual([{ record_id: 'a', kind: 'missing' }]);
});

test('a sync that restores a lost row adds no version to history', async () => {
  const service = await withLostBill();
  service.lists.bills = [bill('b'), bill('a', { last_synced_at: `"${new Date().toISOString()}"` })];
  const { status } = await service.sync(['bills']);
  expect([status, await service.ids('bills')]).toEqual(['succeeded', ['a', 'b']]);
  expect(await readOperations(service, 'a')).toEqual(['upsert']);
});

test('a re-created record is not marked as deleted by a rebuild, even if its old deletion event is reread', async () => {
  const service = await withRecreatedBill();
  await service.rows(`delete from finance.bills where connection_id = $1 and id = 'a'`);
  await service.sync(['bills']);
  await rebuildBills(warehouse, service);
  expect([await service.ids('bills'), await readDeletedIds(service)]).toEqual([['a', 'b'], []]);
});

test('a record deleted and re-created unchanged between two syncs survives a rebuild and its old deletion event', async () => {
  const service = await serve();
  const a = (minutes: number): string => bill('a', { last_synced_at: `"${minutesAgo(minutes)}"` });
  service.lists = { bills: [a(90), bill('b')] };
  await service.sync(['bills']);
  service.events = [buildDeletionEvent('a', minutesAgo(80))];
  service.lists.bills = [a(70), bill('b', { last_synced_at: `"${minutesAgo(0)}"` })];
  await service.sync(['bills']);
  await service.rows('delete from finance.bills where connection_id = $1');
  await rebuildBills(warehouse, service);
  const { status } = await service.sync(['bills']);
  expect([status, await service.ids('bills'), await readDeletedIds(service)]).toEqual([
    'succeeded',
    ['a', 'b'],
    [],
  ]);
});

test('a sync overwrites a row restored from a backup with the current version', async () => {
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
    await readBillsWithLines(service),
    await readOperations(service, 'a'),
  ]).toEqual(['succeeded', [{ memo: 'today' }], [], ['upsert', 'upsert']]);
});

test('a reconcile removes the tombstone of a record that lives unchanged', async () => {
  const service = await withRecreatedBill();
  await addTombstone(warehouse, {
    connectionId: service.connection,
    recordId: 'a',
    version: minutesAgo(80),
  });
  expect(await readDeletedIds(service)).toEqual(['a']);
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'succeeded' });
  expect([await service.ids('bills'), await readDeletedIds(service)]).toEqual([['a', 'b'], []]);
});

async function withLostBill(lost: readonly string[] = ['a']): Promise<ScriptedService> {
  const service = await serve();
  service.lists = { bills: [...lost, 'b'].map((id) => bill(id)) };
  await service.sync(['bills']);
  for (const id of lost)
    await service.rows(`delete from finance.bills where connection_id = $1 and id = '${id}'`);
  expect(await readBillsWithLines(service)).toEqual([...lost, 'b'].sort());
  return service;
}

test('a re-created record whose row was lost and whose old event was reread ends in history when it is gone', async () => {
  const service = await withRecreatedBill();
  await service.rows(`delete from finance.bills where connection_id = $1 and id = 'a'`);
  await service.sync(['bills']);
  expect(await readDeletedIds(service)).toEqual(['a']);
  service.lists.bills = [bill('b', { last_synced_at: `"${minutesAgo(0)}"` })];
  expect((await service.reconcile(['bills'])).status).toBe('succeeded');
  expect(await aliveInHistory(service)).toEqual(['b']);
});

/** Bill a was deleted, which was announced, and recreated. The watermark is past it. */
async function withRecreatedBill(): Promise<ScriptedService> {
  const service = await serve();
  service.lists = { bills: [bill('a', { last_synced_at: `"${minutesAgo(90)}"` }), bill('b')] };
  await service.sync(['bills']);
  service.events = [buildDeletionEvent('a', minutesAgo(80))];
  service.lists.bills = [bill('b')];
  await service.sync(['bills']);
  expect(await readDeletedIds(service)).toEqual(['a']);
  const again = bill('a', { last_synced_at: `"${minutesAgo(70)}"`, memo: '"again"' });
  service.lists.bills = [again, bill('b', { last_synced_at: `"${minutesAgo(0)}"` })];
  await service.sync(['bills']);
  expect([await service.ids('bills'), await readDeletedIds(service)]).toEqual([['a', 'b'], []]);
  return service;
}

async function readDeletedIds(service: ScriptedService): Promise<unknown[]> {
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

async function readBillsWithLines(service: ScriptedService): Promise<unknown[]> {
  const lines = await service.rows(
    'select distinct bill_id from finance.bill_lines where connection_id = $1 order by 1',
  );
  return lines.map(({ bill_id: id }) => id);
}

async function readOperations(service: ScriptedService, id: string): Promise<unknown[]> {
  const versions = await service.rows(
    `select op from history.record_versions where connection_id = $1 and record_id = '${id}' order by recorded_at`,
  );
  return versions.map(({ op }) => op);
}

function minutesAgo(minutes: number): string {
  return new Date(Date.now() - minutes * 60_000).toISOString();
}
