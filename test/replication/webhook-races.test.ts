import { expect, test } from 'vitest';
import { readWebhook } from '../../source/read-webhook.ts';
import { storeWebhooks } from '../../warehouse/webhooks/store-webhooks.ts';
import { bill } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { answerGoneAfter } from './answer-gone-after.ts';
import type { ScriptedService } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';

const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);

test('an invalid version received after the service reported the record gone is quarantined', async () => {
  const service = await serve();
  service.lists = { bills: [bill('a'), bill('b')] };
  await service.sync(['bills']);
  service.lists.bills = [bill('b')];
  answerGoneAfter(service, new Date(Date.now() - 5_000), async () => {
    // The bill is recreated in a form that cannot land, and a sync reads it while the response is in flight.
    service.lists.bills = [bill('b'), bill('a', { total_amount: '"much"', last_synced_at: stamp(-2_000) })];
    const { status } = await service.sync(['bills']);
    expect(status).toBe('partial');
    expect(await open(service)).toEqual([{ record_id: 'a' }]);
  });
  await service.deliverWebhook('DELETED', bill('a'));
  expect(await service.ids('bills')).toEqual(['b']);
  const { status } = await service.sync(['bills']);
  expect(await open(service)).toEqual([{ record_id: 'a' }]);
  expect(status).toBe('partial');
});

test('a deletion announced again while the first announcement is checked is checked too', async () => {
  const service = await serve();
  service.lists = { bills: [bill('a'), bill('b')] };
  await service.sync(['bills']);
  service.onFetch = async (_resource, id) => {
    if (id !== 'a') return undefined;
    service.onFetch = () => undefined;
    const still = service.lists.bills?.[0] ?? '';
    service.lists.bills = [bill('b')];
    await store(service, bill('a'));
    return { status: 200, body: `{"connection":${service.connectionJson},"bill":${still}}` };
  };
  await service.deliverWebhook('DELETED', bill('a'));
  await service.applyWebhooks();
  expect(await service.ids('bills')).toEqual(['b']);
});

test('a deletion announced by a webhook in the second of the last touch is applied by a requested reconcile', async () => {
  const service = await serve();
  service.lists = { bills: [bill('a'), bill('b')] };
  await service.sync(['bills']);
  const second = Math.floor((Date.now() - 3_000) / 1_000) * 1_000;
  answerGoneAfter(service, new Date(second), async () => {
    // A page requested before the deletion lands while the response is in flight.
    service.lists.bills = [
      bill('b'),
      bill('a', { last_synced_at: `"${new Date(second + 200).toISOString()}"` }),
    ];
    await service.sync(['bills']);
    service.lists.bills = [bill('b')];
  });
  await service.deliverWebhook('DELETED', bill('a'));
  expect(await service.isReconcileWanted('bills')).toBe(true);
  expect((await service.reconcile(['bills'])).status).toBe('succeeded');
  expect(await service.ids('bills')).toEqual(['b']);
});

test('a record that lands while the service reports it gone to another webhook gets a reconcile', async () => {
  const service = await serve();
  service.lists = { bills: [bill('b')] };
  await service.sync(['bills']);
  answerGoneAfter(service, new Date(), async () => {
    service.lists.bills = [bill('b'), bill('a')];
    await service.sync(['bills']);
    service.lists.bills = [bill('b')];
  });
  await service.deliverWebhook('CREATED', bill('a'));
  expect(await service.ids('bills')).toEqual(['a', 'b']);
  expect(await service.isReconcileWanted('bills')).toBe(true);
});

test('a deletion announced before the company of the connection is known is applied once it is known', async () => {
  const service = await serve();
  const nameless = '{}';
  await store(service, bill('a'));
  await store(service, nameless);
  service.lists = { bills: [bill('a'), bill('b')] };
  await service.sync(['bills']);
  expect(await service.isReconcileWanted('bills')).toBe(true);
  service.lists.bills = [bill('b')];
  await service.applyWebhooks();
  expect(await service.ids('bills')).toEqual(['b']);
});

test('a newer, invalid version in a list is not a stall', async () => {
  const service = await serve();
  service.lists = { bills: [bill('a', { last_synced_at: stamp(-60_000) })] };
  await service.sync(['bills']);
  const newer = stamp(-30_000);
  service.lists.bills = [bill('a', { last_synced_at: newer })];
  await service.reconcile(['bills']);
  service.lists.bills = [bill('a', { last_synced_at: stamp(-20_000), total_amount: '"much"' })];
  for (let times = 0; times < 2; times += 1)
    expect(await service.sync(['bills'])).toMatchObject({
      status: 'partial',
      streams: [{ failure_type: null }, {}],
    });
});

async function store(service: ScriptedService, record: string): Promise<void> {
  const body = `{"type":"BILL","code":"BILL_DELETED","access_token":"t","connection_id":"svc-${service.connection}","bill":${record}}`;
  const read = readWebhook(Buffer.from(body));
  if (read === undefined) throw new Error('That is no webhook.');
  await storeWebhooks(warehouse, { apiAddress: service.url, webhooks: [read] });
}

function open(service: ScriptedService): Promise<unknown[]> {
  return service.rows(`select record_id from sync.quarantine where connection_id = $1 and status = 'open'`);
}

function stamp(milliseconds: number): string {
  return `"${new Date(Date.now() + milliseconds).toISOString()}"`;
}
