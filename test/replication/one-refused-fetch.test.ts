import { setTimeout as pass } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { readWebhook } from '../../source/read-webhook.ts';
import { setToken } from '../../warehouse/connections/set-token.ts';
import { forgetWrongHolds } from '../../warehouse/webhooks/forget-wrong-holds.ts';
import { storeWebhooks } from '../../warehouse/webhooks/store-webhooks.ts';
import { bill, customer } from '../support/finance-records.ts';
import { secretKey } from '../simulation/create-dependencies.ts';
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

describe('webhooks of a resource that the service answers for no record of', () => {
  test.each([
    { what: 'fails', status: 500, body: '{}', notWithin: 5 },
    { what: 'is refused by the platform', status: 451, body: '{}', notWithin: 290 },
    { what: 'has no data yet', status: 400, body: '{"error_code":"PRODUCT_NOT_READY"}', notWithin: 15 },
  ])('wait alone: every fetch of a bill $what', async ({ status, body, notWithin }) => {
    const service = await serve();
    const bills = ['a', 'b', 'c', 'd', 'e', 'f'].map((id) => bill(id));
    service.lists = { bills, customers: [customer('x'), customer('y'), customer('z')] };
    await service.sync(['bills']);
    service.onFetch = (resource) => (resource === 'bills' ? { status, body } : undefined);
    for (const record of bills) await store(service, 'UPDATED', record);
    await store(service, 'UPDATED', customer('x'), 'customer');
    await service.applyWebhooks();
    expect(await service.ids('customers')).toEqual(['x']);
    expect(await service.rows(newestRun)).toEqual([
      { stream: 'bills', status: 'failed' },
      { stream: 'customers', status: 'succeeded' },
    ]);
    expect(await service.rows(dueWithin(notWithin))).toEqual([]);
    await store(service, 'UPDATED', customer('y'), 'customer');
    await service.applyWebhooks();
    expect(await service.ids('customers')).toEqual(['x', 'y']);
    // Bills alone are due after a sync, which gets through.
    await service.sync(['bills']);
    await service.applyWebhooks();
    expect(await service.rows(held)).toEqual([{ held: false }]);
    await store(service, 'UPDATED', customer('z'), 'customer');
    await service.applyWebhooks();
    expect(await service.ids('customers')).toEqual(['x', 'y', 'z']);
    service.onFetch = () => undefined;
    await service.rows(makeDue);
    await service.applyWebhooks();
    expect(await service.rows(waiting)).toEqual([]);
  });

  test('are tried after those of other resources, so that slow failures are not in the way', async () => {
    const service = await serve();
    service.lists = { bills: [bill('a')], customers: [customer('x')] };
    await service.sync(['bills', 'customers']);
    service.onFetch = (resource) => (resource === 'bills' ? { status: 500, body: '{}' } : undefined);
    for (const id of ['b', 'c', 'd']) await store(service, 'UPDATED', bill(id));
    await service.applyWebhooks();
    await service.rows(
      `update sync.webhook_inbox set try_after = now() - interval '1 s' where connection_id = $1`,
    );
    await store(service, 'UPDATED', bill('e'));
    await store(service, 'UPDATED', customer('x', { company_name: '"other"' }), 'customer');
    service.requests = [];
    await service.applyWebhooks();
    expect(service.requests[0]).toContain('/customers/x');
  });
});

test('a resource with many webhooks leaves others their share of each run', async () => {
  const service = await serve();
  const bills = Array.from({ length: 120 }, (_, index) => bill(`b-${index}`));
  service.lists = { bills, customers: [customer('x')] };
  await service.sync(['items']);
  for (const record of bills) await store(service, 'UPDATED', record);
  await store(service, 'UPDATED', customer('x'), 'customer');
  await service.applyWebhooks();
  expect(
    await service.rows(
      `select max(closed_at) filter (where resource = 'customers')
         < max(closed_at) filter (where resource = 'bills') as in_turn
       from sync.webhook_inbox where connection_id = $1`,
    ),
  ).toEqual([{ in_turn: true }]);
});

test('only the resource with many webhooks is left to its list, except what lists did not bring', async () => {
  const service = await serve();
  const bills = Array.from({ length: 310 }, (_, index) => bill(`b-${index}`));
  service.lists = { bills, customers: [customer('x')] };
  await service.sync(['items']);
  for (const record of bills) await store(service, 'UPDATED', record);
  await store(service, 'UPDATED', customer('x'), 'customer');
  await service.rows(
    `update sync.webhook_inbox set tries = 3 where connection_id = $1 and record_id in ('b-0', 'b-1')`,
  );
  await service.applyWebhooks();
  const applied = `select record_id from sync.webhook_inbox where connection_id = $1 and status = 'applied' order by 1`;
  expect(await service.rows(applied)).toEqual(['b-0', 'b-1', 'x'].map((id) => ({ record_id: id })));
});

test('a deletion that no list confirms the company of delays no other record of its resource', async () => {
  const service = await serve();
  service.lists = { customers: [customer('gone'), customer('x')] };
  await service.sync(['customers']);
  service.onOne = (resource) =>
    ['bills', 'expenses', 'bill_credit_memos'].includes(resource) ? { status: 500, body: '{}' } : undefined;
  service.lists.customers = [customer('x', { company_name: '"other"' })];
  await store(service, 'DELETED', customer('gone'), 'customer');
  await store(service, 'UPDATED', customer('x', { company_name: '"other"' }), 'customer');
  await service.applyWebhooks();
  expect(await service.ids('customers')).toEqual(['gone', 'x']);
  expect(await service.rows(waiting)).toEqual([{ record_id: 'gone' }]);
  service.onOne = () => undefined;
  await service.rows(makeDue);
  await service.applyWebhooks();
  expect(await service.ids('customers')).toEqual(['x']);
});

test('a list that refuses to name the company closes no webhook', async () => {
  const service = await serve();
  service.lists = { customers: [customer('gone')] };
  await service.sync(['customers']);
  service.onOne = () => ({ status: 403, body: '{"error_code":"FORBIDDEN"}' });
  service.lists.customers = [];
  await store(service, 'DELETED', customer('gone'), 'customer');
  await service.applyWebhooks();
  expect(await service.rows(waiting)).toEqual([{ record_id: 'gone' }]);
  expect(await service.rows(newestRun)).toEqual([{ stream: 'customers', status: 'failed' }]);
  service.onOne = () => undefined;
  await service.sync(['customers']);
  await service.applyWebhooks();
  expect(await service.ids('customers')).toEqual([]);
});

test.each([
  { what: 'the service answers for no record', others: 500, seconds: 25 },
  { what: 'the service answers for others', others: 200, seconds: 305 },
])('a webhook that failed 30 times waits at most $seconds s while $what', async ({ others, seconds }) => {
  const service = await serve();
  service.lists = { bills: [bill('a'), bill('x')] };
  await service.sync(['bills']);
  service.onFetch = (_, id) => (id === 'x' || others === 500 ? { status: 500, body: '{}' } : undefined);
  await store(service, 'UPDATED', bill('x'));
  await service.rows('update sync.webhook_inbox set tries = 30 where connection_id = $1');
  await service.applyWebhooks();
  const delay = `
    select tries::int, try_after < now() + interval '${seconds} s' as soon, try_after > now() + interval '${seconds - 20} s' as later
    from sync.webhook_inbox where connection_id = $1`;
  expect(await service.rows(delay)).toEqual([{ tries: 30, soon: true, later: true }]);
});

test('a refusal of every fetch holds the connection until a token is set or a sync gets through', async () => {
  const service = await serve();
  service.lists = { bills: [bill('x')] };
  await service.sync(['bills']);
  service.onFetch = () => ({ status: 451, body: '{}' });
  await store(service, 'UPDATED', bill('x', { memo: '"other"' }));
  await service.applyWebhooks();
  expect(await service.rows(held)).toEqual([{ held: true }]);
  expect(await service.rows(dueWithin(30))).toEqual([{ record_id: 'x' }]);
  await setToken(warehouse, secretKey, { connectionId: service.connection, token: 't' });
  expect(await service.rows(held)).toEqual([{ held: false }]);
  await service.sync(['bills']);
  await service.applyWebhooks();
  expect(await service.rows(held)).toEqual([{ held: false }]);
  expect(await service.rows(dueWithin(290))).toEqual([]);
});

test('a pause of minutes for one record is not taken for the hold of a wrong clock', async () => {
  const service = await serve();
  service.lists = { bills: [bill('a')] };
  await service.sync(['bills']);
  await store(service, 'UPDATED', bill('b'));
  const held = `select record_id from sync.webhook_inbox where connection_id = $1 and try_after is not null`;
  for (const [minutes, kept] of [
    [14, true],
    [16, false],
  ] as const) {
    await service.rows(
      `update sync.webhook_inbox set try_after = now() + interval '${minutes} minutes' where connection_id = $1`,
    );
    await forgetWrongHolds(warehouse);
    expect(await service.rows(held)).toHaveLength(kept ? 1 : 0);
  }
});

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
const makeDue = 'update sync.webhook_inbox set try_after = null where connection_id = $1';
const dueWithin = (seconds: number): string =>
  `${waiting} and coalesce(try_after < clock_timestamp() + interval '${seconds} s', true)`;
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
