import { setTimeout as pass } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { readWebhook } from '../../source/read-webhook.ts';
import { storeWebhooks } from '../../warehouse/webhooks/store-webhooks.ts';
import { bill, customer } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';
import type { ScriptedService } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';

const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);

// The platform refuses one record, such as one of a locked period, and returns all others.
test.each([451, 452])(
  'a record whose fetch alone answers %i does not block webhooks for other records',
  async (status) => {
    const service = await serve();
    service.lists = { bills: [bill('a'), bill('b'), bill('x')] };
    await service.sync(['bills']);
    service.onFetch = (_resource, id) => (id === 'x' ? { status, body: '{}' } : undefined);
    service.lists.bills = [bill('b', { memo: '"other"' }), bill('x')];
    await store(service, 'UPDATED', bill('x', { memo: '"other"' }));
    await store(service, 'UPDATED', bill('b'));
    await store(service, 'DELETED', bill('a'));
    await service.applyWebhooks();
    expect(await service.ids('bills')).toEqual(['b', 'x']);
    expect(await service.rows(inbox)).toEqual([
      { record_id: 'x', status: 'waiting', tries: 1 },
      { record_id: 'b', status: 'applied', tries: 0 },
      { record_id: 'a', status: 'applied', tries: 0 },
    ]);
    expect(await service.rows(held)).toEqual([{ held: false }]);
  },
);

test('a pause requested for every fetch holds back the webhooks of the connection', async () => {
  const service = await serve();
  service.lists = { bills: [bill('a'), bill('x')] };
  await service.sync(['bills']);
  service.onFetch = () => ({ status: 452, body: '{}' });
  await store(service, 'UPDATED', bill('x', { memo: '"other"' }));
  await service.applyWebhooks();
  expect(await service.rows(held)).toEqual([{ held: true }]);
  expect(await service.rows(inbox)).toEqual([{ record_id: 'x', status: 'waiting', tries: 1 }]);
});

test.each([
  { what: 'fails', status: 500, body: '{}', notWithin: 5 },
  { what: 'asks for a pause', status: 452, body: '{}', notWithin: 0 },
  { what: 'has no data yet', status: 400, body: '{"error_code":"PRODUCT_NOT_READY"}', notWithin: 55 },
])(
  'webhooks of other resources are applied while every fetch of a bill $what',
  async ({ status, body, notWithin }) => {
    const service = await serve();
    const bills = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => bill(id));
    service.lists = { bills, customers: [] };
    await service.sync(['bills', 'customers']);
    service.onFetch = (resource) => (resource === 'bills' ? { status, body } : undefined);
    for (const record of bills) await store(service, 'UPDATED', record);
    service.lists.customers = [customer('x')];
    await store(service, 'UPDATED', customer('x'), 'customer');
    await service.applyWebhooks();
    expect(await service.ids('customers')).toEqual(['x']);
    expect(await service.rows(held)).toEqual([{ held: false }]);
    expect(await service.rows(dueSoon(notWithin))).toEqual([]);
    expect(await service.rows(newestRun)).toEqual([
      { stream: 'bills', status: 'failed' },
      { stream: 'customers', status: 'succeeded' },
    ]);
    service.onFetch = () => undefined;
    await service.rows('update sync.webhook_inbox set try_after = null where connection_id = $1');
    await service.applyWebhooks();
    expect(await service.rows(waiting)).toEqual([]);
  },
);

test('a reconcile completes even if the fetch of one record always answers with a requested pause', async () => {
  const service = await serve();
  service.lists = { bills: [bill('a'), bill('b'), bill('x')] };
  await service.sync(['bills']);
  service.lists.bills = [bill('a'), bill('b')];
  service.onFetch = (_resource, id) => (id === 'x' ? { status: 452, body: '{}' } : undefined);
  const ended = service.reconcile(['bills']).then(({ status }) => status);
  // Here a run retries for three seconds.
  expect(await Promise.race([ended, pass(20_000, 'still running')])).toBe('partial');
  expect(await service.ids('bills')).toEqual(['a', 'b', 'x']);
});

const inbox = `
  select record_id, status, tries::int from sync.webhook_inbox where connection_id = $1 order by id`;
const waiting = `select record_id from sync.webhook_inbox where connection_id = $1 and status = 'waiting'`;
/** Webhooks that are tried again within so many seconds, except those that were tried, which have a delay of their own. */
const dueSoon = (seconds: number): string =>
  `${waiting} and tries = 0 and coalesce(try_after < clock_timestamp() + interval '${seconds} s', true)`;
const newestRun = `
  select stream, s.status from sync.run_streams s
  where run_id = (select run_id from sync.runs where connection_id = $1 order by started_at desc limit 1) order by stream`;
const held =
  'select coalesce(webhooks_after > now(), false) as held from sync.connections where connection_id = $1';

async function store(
  service: ScriptedService,
  code: string,
  record: string,
  entity: 'bill' | 'customer' = 'bill',
): Promise<void> {
  const type = entity.toUpperCase();
  const body = `{"type":"${type}","code":"${type}_${code}","access_token":"t","connection_id":"svc-${service.connection}","${entity}":${record}}`;
  const webhook = readWebhook(Buffer.from(body));
  if (webhook === undefined) throw new Error('That is no webhook.');
  await storeWebhooks(warehouse, { apiAddress: service.url, webhooks: [webhook] });
}
