import { expect, test } from 'vitest';
import { bill } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { answerLater, at, type ScriptedService } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';

// Bill x is touched and deleted within one second, and the time of its deletion is given only in whole seconds.
const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);

test('a record deleted by an event is not restored by a backfill page in flight', async () => {
  const { service, touched, deliverEvent } = await withBill();
  const { asked, answer } = answerLater(service, [bill('kept'), touched]);
  const running = service.backfill(['bills'], { from: '2024-01-01', to: '2024-01-20' });
  await asked;
  await deliverEvent();
  answer();
  await running;
  expect([await service.ids('bills'), await service.isReconcileWanted()]).toEqual([['kept'], true]);
  await expectProved(service, ['kept']);
});

test('a record deleted by a webhook is not restored by a list that lags by seconds', async () => {
  const { service, touched, deliverWebhook } = await withBill();
  await deliverWebhook();
  service.lists.bills = [bill('kept'), touched];
  await service.sync(['bills']);
  expect([await service.ids('bills'), await service.isReconcileWanted()]).toEqual([['kept'], true]);
  service.lists.bills = [bill('kept')];
  await expectProved(service, ['kept']);
});

test('a record deleted by a webhook is not restored by a reconcile fetch in flight', async () => {
  const { service, touched, deliverWebhook } = await withBill();
  service.lists.bills = [bill('kept')];
  service.onFetch = async (_resource, id) => {
    if (id !== 'x') return undefined;
    service.onFetch = () => undefined;
    await deliverWebhook();
    return { status: 200, body: `{"connection":${service.connectionJson},"bill":${touched}}` };
  };
  const { status } = await service.reconcile(['bills']);
  expect([status, await service.ids('bills'), await service.isReconcileWanted()]).toEqual([
    'partial',
    ['kept'],
    true,
  ]);
  await expectProved(service, ['kept']);
});

test.each(['deliverEvent', 'deliverWebhook'] as const)(
  'a record re-created in the second of its deletion comes back with the reconcile: %s',
  async (deliver) => {
    const living = await withBill();
    const { service, touched } = living;
    await living[deliver]();
    service.lists.bills = [bill('kept'), touched];
    await service.sync(['bills']);
    if (await service.isReconcileWanted()) await expectProved(service, ['kept', 'x']);
    // The lookback reads the event again.
    await service.sync(['bills']);
    if (await service.isReconcileWanted()) await expectProved(service, ['kept', 'x']);
    await service.sync(['bills']);
    expect([await service.ids('bills'), await service.isReconcileWanted()]).toEqual([['kept', 'x'], false]);
  },
);

test('a record re-created in the second in which a reconcile found it gone comes back with the next, requested one', async () => {
  const { service, touched, second } = await withBill();
  service.lists.bills = [bill('kept')];
  service.date = () => new Date(second + 300);
  await expectProved(service, ['kept']);
  service.date = () => new Date();
  service.lists.bills = [bill('kept'), touched];
  await service.deliverWebhook('CREATED', touched);
  expect([await service.ids('bills'), await service.isReconcileWanted()]).toEqual([['kept'], true]);
  await expectProved(service, ['kept', 'x']);
});

test('a record that a server that is behind reported gone is deleted again after a lagging list restores it', async () => {
  const service = await serve();
  service.lists = { bills: [bill('kept'), bill('x', { last_synced_at: at(-3_600_000) })] };
  await service.sync(['bills']);
  const touched = bill('x', { last_synced_at: at(-2_000) });
  service.lists = { bills: [bill('kept')] };
  service.onFetch = (_resource, id) => {
    if (id !== 'x') return undefined;
    service.date = () => {
      service.date = () => new Date();
      return new Date(Date.now() - 5_000);
    };
    return undefined;
  };
  await expectProved(service, ['kept']);
  service.lists = { bills: [bill('kept'), touched] };
  await service.sync(['bills']);
  expect(await service.isReconcileWanted()).toBe(true);
  service.lists = { bills: [bill('kept')] };
  await expectProved(service, ['kept']);
});

async function withBill(): Promise<{
  service: ScriptedService;
  touched: string;
  second: number;
  deliverEvent: () => Promise<void>;
  deliverWebhook: () => Promise<void>;
}> {
  const service = await serve();
  const x = bill('x', { last_synced_at: at(-3_600_000) });
  service.lists = { bills: [bill('kept'), x] };
  await service.sync(['bills']);
  const second = Math.floor(Date.now() / 1_000 - 2) * 1_000;
  const when = JSON.stringify(new Date(second).toISOString().replace('.000Z', 'Z'));
  return {
    service,
    second,
    touched: bill('x', { last_synced_at: JSON.stringify(new Date(second + 600).toISOString()) }),
    async deliverEvent() {
      service.lists.bills = [bill('kept')];
      service.events = [
        `{"id":"e","resource":"BILL","type":"object_deleted","last_synced_at":${when},"data":{"id":"x","deleted_at":${when}}}`,
      ];
      await service.sync(['bills']);
      expect(await service.ids('bills')).toEqual(['kept']);
    },
    async deliverWebhook() {
      service.lists.bills = [bill('kept')];
      service.date = () => new Date(second + 900);
      await service.deliverWebhook('DELETED', x);
      service.date = () => new Date();
      expect(await service.ids('bills')).toEqual(['kept']);
    },
  };
}

async function expectProved(service: ScriptedService, ids: readonly string[]): Promise<void> {
  expect([(await service.reconcile(['bills'])).status, await service.ids('bills')]).toEqual([
    'succeeded',
    ids,
  ]);
}
