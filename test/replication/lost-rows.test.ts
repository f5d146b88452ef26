import { expect, test } from 'vitest';
import { bill } from '../support/finance-records.ts';
import { deletionOf } from '../support/land-events.ts';
import { createTestDatabase } from '../support/test-database.ts';
import type { ScriptedService } from './scripted-service.ts';
import { servicesOf } from './serve.ts';

// Somebody deleted the row of a bill here and left its lines; then the bill is deleted at the source.
const { warehouse } = await createTestDatabase();
const serve = servicesOf(warehouse);

test('the event of the deletion takes the lines that were left', async () => {
  const service = await withLostBill();
  service.lists.bills = [bill('b')];
  service.events = [deletionOf('a', new Date().toISOString())];
  await service.sync(['bills']);
  expect(await linesOf(service)).toEqual(['b']);
});

test('a reconcile takes the lines of what is gone unannounced, and says so', async () => {
  const service = await withLostBill();
  service.lists.bills = [bill('b')];
  const { status } = await service.reconcile(['bills']);
  expect(status).toBe('succeeded');
  expect(await linesOf(service)).toEqual(['b']);
  expect(
    await service.rows('select record_id, kind, status from sync.discrepancies where connection_id = $1'),
  ).toEqual([{ record_id: 'a', kind: 'damaged', status: 'repaired' }]);
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

async function withLostBill(): Promise<ScriptedService> {
  const service = await serve();
  service.lists = { bills: [bill('a'), bill('b')] };
  await service.sync(['bills']);
  await service.rows(`delete from finance.bills where connection_id = $1 and id = 'a'`);
  expect(await linesOf(service)).toEqual(['a', 'b']);
  return service;
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
