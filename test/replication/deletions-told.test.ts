import { expect, test } from 'vitest';
import { troubles } from '../../warehouse/alerts/troubles.ts';
import { bill } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { answerLater, at } from './scripted-service.ts';
import { servicesOf } from './serve.ts';

const { warehouse } = await createTestDatabase();
const serve = servicesOf(warehouse);

const wanted = 'select stream from sync.streams where connection_id = $1 and reconcile_wanted_at is not null';

test('a deletion whose event tells whole seconds asks once for a reconcile, where the record was touched in that second', async () => {
  const service = await serve();
  const second = Math.floor(Date.now() / 1_000 - 30) * 1_000;
  const touched = JSON.stringify(new Date(second + 200).toISOString());
  service.lists = { bills: [bill('kept'), bill('x', { last_synced_at: touched })] };
  await service.sync(['bills']);
  service.lists = { bills: [bill('kept')] };
  service.events = [deletionOf('x', JSON.stringify(new Date(second).toISOString().replace('.000Z', 'Z')))];
  await service.sync(['bills']);
  expect(await service.rows(wanted)).toEqual([{ stream: 'bills' }]);
  await service.reconcile(['bills']);
  expect(await service.ids('bills')).toEqual(['kept']);
  // The lookback reads the event again.
  await service.sync(['bills']);
  expect(await service.rows(wanted)).toEqual([]);
});

test('a deletion in the second of a version that was there before it is believed', async () => {
  const service = await serve();
  service.lists = { bills: [bill('kept'), bill('x', { last_synced_at: at(-60_000) })] };
  await service.sync(['bills']);
  service.lists = { bills: [bill('kept')] };
  service.events = [deletionOf('x', at(-59_000))];
  await service.sync(['bills']);
  expect([await service.ids('bills'), await service.rows(wanted)]).toEqual([['kept'], []]);
});

function deletionOf(id: string, when: string): string {
  return `{"id":"e-${id}","resource":"BILL","type":"object_deleted","last_synced_at":${when},"data":{"id":"${id}","deleted_at":${when}}}`;
}

test('a deletion that is told once more, after its first telling came too soon, is carried out', async () => {
  const service = await serve();
  const x = bill('x', { last_synced_at: at(-3_600_000) });
  service.lists = { bills: [bill('kept'), x] };
  await service.sync(['bills']);
  await service.tellOfBill('DELETED', x);
  expect(await service.ids('bills')).toEqual(['kept', 'x']);
  service.lists = { bills: [bill('kept')] };
  await service.tellOfBill('DELETED', x);
  expect(await service.ids('bills')).toEqual(['kept']);
  await service.tellOfBill('DELETED', x);
  expect(
    await service.rows('select status, outcome from sync.webhook_inbox where connection_id = $1'),
  ).toEqual([{ status: 'applied', outcome: 'gone at the source too: deleted' }]);
});

test('what a webhook deleted, and a page in flight of the same second shows touched, stays deleted', async () => {
  const service = await serve();
  const x = bill('x', { last_synced_at: at(-3_600_000) });
  service.lists = { bills: [bill('kept'), x] };
  await service.sync(['bills']);
  const second = Math.floor(Date.now() / 1_000) * 1_000 - 2_000;
  const touched = bill('x', { last_synced_at: JSON.stringify(new Date(second + 600).toISOString()) });
  const { asked, answer } = answerLater(service, [bill('kept'), touched]);
  const running = service.sync(['bills']);
  await asked;
  service.lists = { bills: [bill('kept')] };
  service.date = () => new Date(second + 900);
  await service.tellOfBill('DELETED', x);
  service.date = () => new Date();
  answer();
  await running;
  expect(await service.ids('bills')).toEqual(['kept']);
});

test('a bad form that a list which lags shows after a webhook has deleted the record does not wait in quarantine', async () => {
  const service = await serve();
  service.lists = { bills: [bill('kept'), bill('x', { last_synced_at: at(-3_600_000) })] };
  await service.sync(['bills']);
  const bad = bill('x', { last_synced_at: at(-20_000), memo: '7' });
  service.lists = { bills: [bill('kept')] };
  await service.tellOfBill('DELETED', bad);
  service.lists = { bills: [bill('kept'), bad] };
  expect(await service.sync(['bills'])).toMatchObject({ status: 'succeeded' });
  expect(await service.rows('select status from sync.quarantine where connection_id = $1')).toEqual([]);
});

test('what awaits approval, and an event or a webhook has deleted meanwhile, awaits it no more', async () => {
  const service = await serve();
  const ids = Array.from({ length: 120 }, (_, index) => `b${index}`);
  const of = (some: readonly string[]): string[] =>
    some.map((id) => bill(id, { last_synced_at: at(-3_600_000) }));
  service.lists = { bills: of(ids) };
  await service.sync(['bills']);
  service.lists = { bills: of(ids.slice(60)) };
  await service.reconcile(['bills']);
  const waiting = 'select count(*)::int as waiting from sync.waiting_deletions where connection_id = $1';
  expect(await service.rows(waiting)).toEqual([{ waiting: 60 }]);
  service.events = ids.slice(0, 59).map((id) => deletionOf(id, at(-1_000)));
  expect(await service.sync(['bills'])).toMatchObject({ status: 'succeeded' });
  expect(await service.rows(waiting)).toEqual([{ waiting: 1 }]);
  service.events = [deletionOf('b59', at(-1_000))];
  await service.sync(['bills']);
  expect(await service.rows(waiting)).toEqual([{ waiting: 0 }]);
  const { rows: alerts } = await troubles.approval.execute(warehouse.db);
  expect(alerts).toEqual([]);
});
