import { describe, expect, test } from 'vitest';
import { alertConditions } from '../../warehouse/alerts/alert-conditions.ts';
import { buildQuestion } from '../../warehouse/reconcile/deletion-question.ts';
import { readWaitingDeletions } from '../../warehouse/reconcile/read-waiting-deletions.ts';
import { bill } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { answerLater, at, type ScriptedService } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';

const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);

const wanted = 'select stream from sync.streams where connection_id = $1 and reconcile_wanted_at is not null';

test('a deletion event in whole seconds requests one reconcile if the record was touched in that second', async () => {
  const service = await serve();
  const second = Math.floor(Date.now() / 1_000 - 30) * 1_000;
  const touched = JSON.stringify(new Date(second + 200).toISOString());
  service.lists = { bills: [bill('kept'), bill('x', { last_synced_at: touched })] };
  await service.sync(['bills']);
  service.lists = { bills: [bill('kept')] };
  service.events = [deletionEvent('x', JSON.stringify(new Date(second).toISOString().replace('.000Z', 'Z')))];
  await service.sync(['bills']);
  expect(await service.rows(wanted)).toEqual([{ stream: 'bills' }]);
  await service.reconcile(['bills']);
  expect(await service.ids('bills')).toEqual(['kept']);
  // The lookback reads the event again.
  await service.sync(['bills']);
  expect(await service.rows(wanted)).toEqual([]);
});

test('a deletion event one second newer than the held version is applied', async () => {
  const service = await serve();
  service.lists = { bills: [bill('kept'), bill('x', { last_synced_at: at(-60_000) })] };
  await service.sync(['bills']);
  service.lists = { bills: [bill('kept')] };
  service.events = [deletionEvent('x', at(-59_000))];
  await service.sync(['bills']);
  expect([await service.ids('bills'), await service.rows(wanted)]).toEqual([['kept'], []]);
});

function deletionEvent(id: string, when: string): string {
  return `{"id":"e-${id}","resource":"BILL","type":"object_deleted","last_synced_at":${when},"data":{"id":"${id}","deleted_at":${when}}}`;
}

test('a deletion webhook that is resent after a premature one is applied', async () => {
  const service = await serve();
  const x = bill('x', { last_synced_at: at(-3_600_000) });
  service.lists = { bills: [bill('kept'), x] };
  await service.sync(['bills']);
  await service.deliverWebhook('DELETED', x);
  expect(await service.ids('bills')).toEqual(['kept', 'x']);
  service.lists = { bills: [bill('kept')] };
  await service.deliverWebhook('DELETED', x);
  expect(await service.ids('bills')).toEqual(['kept']);
  await service.deliverWebhook('DELETED', x);
  expect(
    await service.rows('select status, outcome from sync.webhook_inbox where connection_id = $1'),
  ).toEqual([{ status: 'applied', outcome: 'gone at the source too: deleted' }]);
});

test('a record deleted by a webhook stays deleted when a page in flight shows it touched in the same second', async () => {
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
  await service.deliverWebhook('DELETED', x);
  service.date = () => new Date();
  answer();
  await running;
  expect(await service.ids('bills')).toEqual(['kept']);
});

test('an invalid version from a lagging list is not quarantined after a webhook deleted the record', async () => {
  const service = await serve();
  service.lists = { bills: [bill('kept'), bill('x', { last_synced_at: at(-3_600_000) })] };
  await service.sync(['bills']);
  const bad = bill('x', { last_synced_at: at(-20_000), memo: '7' });
  service.lists = { bills: [bill('kept')] };
  await service.deliverWebhook('DELETED', bad);
  service.lists = { bills: [bill('kept'), bad] };
  expect(await service.sync(['bills'])).toMatchObject({ status: 'succeeded' });
  expect(await service.rows('select status from sync.quarantine where connection_id = $1')).toEqual([]);
});

test('a deletion awaiting approval is withdrawn once an event deletes the record', async () => {
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
  service.events = ids.slice(0, 59).map((id) => deletionEvent(id, at(-1_000)));
  expect(await service.sync(['bills'])).toMatchObject({ status: 'succeeded' });
  expect(await service.rows(waiting)).toEqual([{ waiting: 1 }]);
  service.events = [deletionEvent('b59', at(-1_000))];
  await service.sync(['bills']);
  expect(await service.rows(waiting)).toEqual([{ waiting: 0 }]);
  const { rows: alerts } = await alertConditions.approval.execute(warehouse.db);
  expect(alerts).toEqual([]);
});

describe('an old approval request deletes nothing once the source shows the record with its ID as a number', () => {
  const old = { last_synced_at: at(-3_600_000) };
  // The last id is more than a double holds.
  const ids = ['1000', '1001', '1002', '9007199254740993'];
  const numbered = (id: string): string => bill(id, { id, last_synced_at: at(-500) });
  const today = new Date(Date.now() + 86_400_000).toISOString();

  test.each<[string, (service: ScriptedService) => Promise<unknown>]>([
    ['to a sync', (service) => service.sync(['bills'])],
    ['to a backfill', (service) => service.backfill(['bills'], { from: '2023-01-01T00:00:00Z', to: today })],
    ['to fetches that webhooks ask for', deliverUpdates],
  ])('%s', async (_, show) => {
    const service = await serve();
    service.lists = { bills: ids.map((id) => bill(id, old)) };
    await service.sync(['bills']);
    service.lists.bills = [];
    await service.reconcile(['bills']);
    const question = await readQuestion(service);
    expect(question).toMatchObject({ bills: { records: 4 } });
    service.lists.bills = ids.map(numbered);
    await show(service);
    expect(await readQuestion(service)).toEqual({});
    await service.approve(['bills'], question);
    expect(await service.ids('bills')).toEqual(ids);
  });

  async function deliverUpdates(service: ScriptedService): Promise<void> {
    service.onFetch = (_, id) => ({
      status: 200,
      body: `{"connection":${service.connectionJson},"bill":${numbered(id)}}`,
    });
    for (const id of ids) await service.deliverWebhook('UPDATED', bill(id, { last_synced_at: at(-500) }));
  }

  async function readQuestion({ connection }: ScriptedService): Promise<ReturnType<typeof buildQuestion>> {
    return buildQuestion(await readWaitingDeletions(warehouse, { connectionId: connection }));
  }
});
