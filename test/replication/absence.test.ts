import { describe, expect, test } from 'vitest';
import { bill, customer, subscription } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { at } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';

const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);

describe('a listing that shows a record without a usable ID does not prove absence', () => {
  test.each([
    ['is a number', '7'],
    ['is null', 'null'],
    ['is empty', '""'],
    ['is missing', undefined],
  ])('for a subscription whose ID %s for a while', async (_, id) => {
    const service = await serve();
    const good = ['5', '6', '7', '8'].map((one) => subscription(one));
    service.lists = { subscriptions: good };
    await service.sync(['subscriptions']);
    service.lists.subscriptions = [
      ...['5', '6', '8'].map((one) => subscription(one)),
      subscription('7', { id }),
    ];
    expect((await service.reconcile(['subscriptions'])).status).toBe('partial');
    expect(await service.ids('subscriptions')).toEqual(['5', '6', '7', '8']);
    service.lists.subscriptions = good;
    expect((await service.sync(['subscriptions'])).status).toBe('succeeded');
    expect((await service.reconcile(['subscriptions'])).status).toBe('succeeded');
    expect(await service.ids('subscriptions')).toEqual(['5', '6', '7', '8']);
  });

  test('for bills, even if fetches cost more than a second listing: missing bills are fetched', async () => {
    const service = await serve();
    service.lists = { bills: ['1', '2', '3', '4', '5', '6'].map((one) => bill(one)) };
    await service.sync(['bills']);
    service.lists.bills = ['1', '2', '3', '4', '5', '6'].map((one) =>
      bill(one, Number(one) > 3 ? { id: one } : {}),
    );
    service.onFetch = (_, id) => ({
      status: 200,
      body: `{"connection":${service.connectionJson},"bill":${bill(id)}}`,
    });
    expect((await service.reconcile(['bills'])).status).toBe('partial');
    expect(await service.ids('bills')).toEqual(['1', '2', '3', '4', '5', '6']);
  });

  test('for a held record whose ID came as a number, even after the quarantine entry is discarded', async () => {
    const service = await serve();
    service.lists = { customers: ['5', '6', '7', '8'].map((one) => customer(one)) };
    // This platform has no fetch.
    service.onFetch = () => ({ status: 404, body: '{}' });
    await service.sync(['customers']);
    service.lists.customers = [...['5', '6', '8'].map((one) => customer(one)), customer('7', { id: '7' })];
    await service.reconcile(['customers']);
    await service.discardAll();
    await service.reconcile(['customers']);
    expect(await service.ids('customers')).toEqual(['5', '6', '7', '8']);
  });

  test.each([
    ['its ID came as a number', { id: '7' }],
    ['a field came in a wrong form', { emails: '"none"', addresses: '"none"' }],
  ])('or equality, for a customer without a currency: %s', async (_, wrong) => {
    const service = await serve();
    const plain = { currency_code: 'null', last_synced_at: at(-3_600_000) };
    service.lists = { customers: ['5', '6', '7', '8'].map((one) => customer(one, plain)) };
    await service.sync(['customers']);
    const renamed = { ...plain, customer_name: '"Renamed"', last_synced_at: at(-1_000), ...wrong };
    service.lists.customers = [...['5', '6', '8'].map((one) => customer(one, plain)), customer('7', renamed)];
    expect((await service.sync(['customers'])).status).toBe('partial');
    await service.discardAll();
    const run = await service.reconcile(['customers']);
    expect(run).toMatchObject({ status: 'partial', streams: [{ failure_type: 'NotEqual', quarantined: 0 }] });
    expect(await service.ids('customers')).toEqual(['5', '6', '7', '8']);
    const [runStream] = await service.rows(
      `select totals from sync.run_streams where connection_id = $1 and run_id = '${String(run.id)}' and totals is not null`,
    );
    expect(runStream?.totals).toEqual({
      source: { none: { records: '3' }, 'cannot land': { records: '1' } },
      warehouse: { none: { records: '4' } },
      equal: false,
    });
    service.lists.customers = ['5', '6', '7', '8'].map((one) => customer(one, plain));
    expect((await service.reconcile(['customers'])).status).toBe('succeeded');
  });

  test('until the quarantine entry is discarded', async () => {
    const service = await serve();
    service.lists = { subscriptions: ['5', '6', '7', '8'].map((one) => subscription(one)) };
    await service.sync(['subscriptions']);
    service.lists.subscriptions = [
      ...['5', '6', '8'].map((one) => subscription(one)),
      subscription('9', { id: '9' }),
    ];
    await service.reconcile(['subscriptions']);
    await service.discardAll();
    expect((await service.reconcile(['subscriptions'])).status).toBe('succeeded');
    expect(await service.ids('subscriptions')).toEqual(['5', '6', '8']);
  });
});

test('a fetch answered with another record does not prove absence; a second listing decides', async () => {
  const service = await serve();
  service.lists = { customers: ['a', 'b', 'c', 'd'].map((one) => customer(one)) };
  await service.sync(['customers']);
  service.lists.customers = ['b', 'c', 'd'].map((one) => customer(one));
  service.onFetch = (_, id) =>
    id === 'a'
      ? { status: 200, body: `{"connection":${service.connectionJson},"customer":${customer('b')}}` }
      : undefined;
  expect((await service.reconcile(['customers'])).status).toBe('succeeded');
  expect(await service.ids('customers')).toEqual(['b', 'c', 'd']);
});

test.each([
  ['without a platform', '{"id":"svc-other","orgId":"other","platform":null}'],
  ['without an organisation', '{"id":"svc-other","platform":"QUICKBOOKS"}'],
])('a response that names another company %s is not landed', async (_, named) => {
  const service = await serve();
  service.lists = { bills: [bill('a')], customers: [] };
  await service.sync(['bills']);
  service.onList = (resource) =>
    resource === 'bills'
      ? {
          status: 200,
          body: `{"connection":${named},"bills":[${bill('a')},${bill('foreign')}],"next_cursor":null}`,
        }
      : undefined;
  await service.sync(['bills', 'customers']).catch(() => undefined);
  expect(await service.ids('bills')).toEqual(['a']);
});

test('an emptied list deletes nothing without approval, even if one record is too young to count as missing', async () => {
  const service = await serve();
  const old = Array.from({ length: 20 }, (_, place) => subscription(`s${place}`));
  const young = subscription('young', { updated_at: `"${new Date().toISOString()}"` });
  service.lists = { subscriptions: [...old, young] };
  await service.sync(['subscriptions']);
  service.lists.subscriptions = [];
  expect((await service.reconcile(['subscriptions'])).status).toBe('partial');
  expect(await service.ids('subscriptions')).toHaveLength(21);
});

test('a record dated in the future hides no later record when the service sends no Date header', async () => {
  const service = await serve();
  service.date = () => null;
  const ahead = new Date(Date.now() + 2 * 3_600_000).toISOString();
  service.lists = { bills: [bill('a'), bill('future', { last_synced_at: `"${ahead}"` })] };
  await service.sync(['bills']);
  service.lists.bills = [
    ...(service.lists.bills ?? []),
    bill('new', { last_synced_at: `"${new Date().toISOString()}"` }),
  ];
  expect((await service.sync(['bills'])).status).toBe('succeeded');
  expect(await service.ids('bills')).toEqual(['a', 'future', 'new']);
});
