import { expect, test } from 'vitest';
import { bill, customer, subscription } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { replayOne } from './as-commands.ts';
import { at, type ScriptedService } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';

// A reconcile is requested for what no sync can decide, and for evidence that held data are wrong. Once it has decided, no request is left.
const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);

test('an edit older than the held version, from a server that is behind, requests a reconcile', async () => {
  const service = await serve();
  await syncThen(service, [billAt('x', 25_000, 'one')], [billAt('x', 0, 'two')]);
  await letTimePass(service);
  expect(await service.sync(['bills'])).toMatchObject({ status: 'succeeded' });
  expect([await memos(service), await service.isReconcileWanted()]).toEqual([['one'], true]);
  await expectProved(service);
  expect(await memos(service)).toEqual(['two']);
});

test('an edit older than the held version, after the service clock was corrected, requests a reconcile', async () => {
  const service = await serve();
  const ahead = 7_200_000;
  service.date = () => new Date(Date.now() + ahead);
  await syncThen(service, [billAt('x', ahead, 'one')], [billAt('x', 0, 'two')]);
  service.date = () => new Date();
  await letTimePass(service);
  await service.sync(['bills']);
  expect([await memos(service), await service.isReconcileWanted()]).toEqual([['one'], true]);
  await expectProved(service);
  expect(await memos(service)).toEqual(['two']);
});

test('a subscription edit older than the held version, after the platform clock was corrected, requests a reconcile', async () => {
  const service = await serve();
  service.lists = {
    subscriptions: [subscription('s', { updated_at: at(600_000), status: '"active"' })],
    customers: [customer('c')],
  };
  await service.sync(['subscriptions', 'customers']);
  service.lists.subscriptions = [subscription('s', { updated_at: at(0), status: '"canceled"' })];
  await warehouse.pool.query(
    `update finance.subscriptions set _changed_at = _changed_at - interval '1 hour' where connection_id = $1`,
    [service.connection],
  );
  await service.sync(['subscriptions', 'customers']);
  expect(await service.isReconcileWanted()).toBe(true);
});

test('a list that lags for seconds does not request a reconcile', async () => {
  const service = await serve();
  await syncThen(service, [billAt('x', -10_000, 'one')], [billAt('x', -10_000, 'one')]);
  const edited = billAt('x', 0, 'two');
  service.onFetch = () => ({
    status: 200,
    body: `{"connection":${service.connectionJson},"bill":${edited}}`,
  });
  await service.deliverWebhook('UPDATED', edited);
  await service.sync(['bills']);
  expect([await memos(service), await service.isReconcileWanted()]).toEqual([['two'], false]);
});

test('a list that lags forever requests no second reconcile', async () => {
  const service = await serve();
  const x = billAt('x', 0, 'one');
  await syncThen(service, [x], [billAt('x', -10_000, 'stale')]);
  service.onFetch = (_resource, id) =>
    id === 'x' ? { status: 200, body: `{"connection":${service.connectionJson},"bill":${x}}` } : undefined;
  await letTimePass(service);
  await service.sync(['bills']);
  expect(await service.isReconcileWanted()).toBe(true);
  await service.reconcile(['bills']);
  await letTimePass(service);
  await service.sync(['bills']);
  expect([await memos(service), await service.isReconcileWanted()]).toEqual([['one'], false]);
});

test('a listed record that is older than a tombstone from a clock ahead requests a reconcile', async () => {
  const service = await serve();
  await syncThen(service, [billAt('x', -3_600_000, 'one')], []);
  service.date = () => new Date(Date.now() + 7_200_000);
  await service.reconcile(['bills']);
  service.date = () => new Date();
  service.lists.bills = [bill('kept'), billAt('x', 0, 'two')];
  await letTimePass(service);
  await service.sync(['bills']);
  expect([await memos(service), await service.isReconcileWanted()]).toEqual([[], true]);
  await expectProved(service);
  expect(await memos(service)).toEqual(['two']);
});

test('a deletion webhook that comes before a fetch shows the deletion requests a reconcile', async () => {
  const service = await serve();
  const x = billAt('x', -3_600_000, 'one');
  await syncThen(service, [x], [x]);
  await service.deliverWebhook('DELETED', x);
  service.lists.bills = [bill('kept')];
  await service.sync(['bills']);
  expect([await service.ids('bills'), await service.isReconcileWanted()]).toEqual([['kept', 'x'], true]);
  await expectProved(service);
  expect(await service.ids('bills')).toEqual(['kept']);
});

test('a deletion webhook for a record that was re-created does not request a reconcile', async () => {
  const service = await serve();
  const x = billAt('x', -3_600_000, 'one');
  await syncThen(service, [x], [billAt('x', 0, 'again')]);
  await service.deliverWebhook('DELETED', x);
  expect([await memos(service), await service.isReconcileWanted()]).toEqual([['again'], false]);
});

test('an edit webhook for a record that is gone requests a reconcile', async () => {
  const service = await serve();
  await syncThen(service, [billAt('x', -3_600_000, 'one')], []);
  await service.deliverWebhook('UPDATED', billAt('x', -1_000, 'two'));
  await service.sync(['bills']);
  expect([await service.ids('bills'), await service.isReconcileWanted()]).toEqual([['kept', 'x'], true]);
  await expectProved(service);
  expect(await service.ids('bills')).toEqual(['kept']);
});

test('a replay of a quarantined record that is gone requests a reconcile', async () => {
  const service = await serve();
  await syncThen(service, [billAt('x', -3_600_000, 'one')], [bill('x', { last_synced_at: at(), memo: '7' })]);
  await service.sync(['bills']);
  service.lists.bills = [bill('kept')];
  await replayOne(warehouse, service);
  await service.sync(['bills']);
  expect([await service.ids('bills'), await service.isReconcileWanted()]).toEqual([['kept', 'x'], true]);
});

test('a deletion event seconds older than the last touch, from a server that is behind, requests one reconcile', async () => {
  const service = await serve();
  await syncThen(service, [billAt('x', -57_000, 'one')], []);
  service.events = [deletionEvent('x', -60_000)];
  await service.sync(['bills']);
  expect([await service.ids('bills'), await service.isReconcileWanted()]).toEqual([['kept', 'x'], true]);
  await expectProved(service);
  // The lookback reads the event again.
  await service.sync(['bills']);
  expect([await service.ids('bills'), await service.isReconcileWanted()]).toEqual([['kept'], false]);
});

test('a lagging list that restores a record deleted by an event of a server that is behind requests a reconcile', async () => {
  const service = await serve();
  await syncThen(service, [billAt('x', -3_600_000, 'one')], []);
  service.events = [deletionEvent('x', -60_000)];
  await service.sync(['bills']);
  service.lists.bills = [bill('kept'), billAt('x', -57_000, 'touched')];
  await service.sync(['bills']);
  service.lists.bills = [bill('kept')];
  expect([await service.ids('bills'), await service.isReconcileWanted()]).toEqual([['kept', 'x'], true]);
  await expectProved(service);
  expect(await service.ids('bills')).toEqual(['kept']);
});

test('a lagging list that restores a record deleted by the previous reconcile requests another reconcile', async () => {
  const service = await serve();
  const now = billAt('now', 20_000, 'now');
  await syncThen(service, [now, billAt('x', -3_600_000, 'one')], [now]);
  await service.reconcile(['bills']);
  service.lists.bills = [bill('kept'), now, billAt('x', 3_000, 'touched')];
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'succeeded' });
  expect([await memos(service), await service.isReconcileWanted()]).toEqual([['now', 'touched'], true]);
  service.lists.bills = [bill('kept'), now];
  await expectProved(service);
  expect(await memos(service)).toEqual(['now']);
});

test('a webhook edit that syncs have passed by requests a reconcile, which also repairs a record without a webhook', async () => {
  const service = await serve();
  const [old, late] = [-86_400_000, -3_600_000];
  const now = billAt('now', -1_000, 'now');
  await syncThen(
    service,
    [billAt('a', old, 'one'), billAt('b', old, 'one'), now],
    [billAt('a', late, 'two'), billAt('b', late, 'two'), now],
  );
  await service.deliverWebhook('UPDATED', billAt('a', late, 'two'));
  await service.sync(['bills']);
  expect([await memos(service), await service.isReconcileWanted()]).toEqual([['two', 'one', 'now'], true]);
  await expectProved(service);
  expect(await memos(service)).toEqual(['two', 'two', 'now']);
});

/** Syncs a bill that always exists and the `before` bills; then the list shows the `after` bills instead. */
async function syncThen(
  service: ScriptedService,
  before: readonly string[],
  after: readonly string[],
): Promise<void> {
  service.lists = { bills: [bill('kept'), ...before] };
  await service.sync(['bills']);
  service.lists = { bills: [bill('kept'), ...after] };
}

/** Moves the recorded times back by an hour. */
async function letTimePass({ connection }: ScriptedService): Promise<void> {
  const before = `interval '1 hour' where connection_id = $1`;
  await warehouse.pool.query(`update finance.bills set _changed_at = _changed_at - ${before}`, [connection]);
  await warehouse.pool.query(`update sync.tombstones set noted_at = noted_at - ${before}`, [connection]);
}

async function expectProved(service: ScriptedService): Promise<void> {
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'succeeded' });
  expect(await service.isReconcileWanted()).toBe(false);
}

/** The memos of all bills except the one that always exists. */
async function memos(service: ScriptedService): Promise<unknown[]> {
  const found = await service.rows(
    `select memo from finance.bills where connection_id = $1 and id <> 'kept' order by id`,
  );
  return found.map(({ memo }) => memo);
}

function billAt(id: string, milliseconds: number, memo: string): string {
  return bill(id, { last_synced_at: at(milliseconds), memo: JSON.stringify(memo) });
}

function deletionEvent(id: string, milliseconds: number): string {
  const when = at(milliseconds);
  return `{"id":"e-${id}","resource":"BILL","type":"object_deleted","last_synced_at":${when},"data":{"id":"${id}","deleted_at":${when}}}`;
}
