import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/start-sandbox.ts';
import type { Sandbox } from '../../sandbox/start-sandbox.ts';
import { createSandboxAdmin } from '../support/sandbox-admin.ts';
import { basicAuth, createSandboxApi } from './sandbox-api.ts';
import type { SandboxApi, SandboxRecord } from './sandbox-api.ts';

let sandbox: Sandbox;
let api: SandboxApi;
let bills: SandboxRecord[];

beforeAll(async () => {
  sandbox = await startSandbox({ records: 2_000 });
  api = createSandboxApi(sandbox);
  await createSandboxAdmin(sandbox.adminUrl).configure({ requestsPer10s: 100_000 });
  bills = await all('/accounting/bills', {});
});
afterAll(() => sandbox.close());

test.each(['last_synced_at ASC', 'last_synced_at DESC', 'updated_at ASC', 'updated_at DESC'])(
  'last_synced_at_min is inclusive, sorted by %s',
  async (sort) => {
    const times = [...new Set(bills.map(({ last_synced_at }) => last_synced_at))].sort();
    expect(times.length).toBeGreaterThan(2);
    const min = times[2] ?? '';
    const found = await all('/accounting/bills', { sort, last_synced_at_min: ms(min) });
    expectSame(
      found,
      bills.filter(({ last_synced_at }) => last_synced_at >= min),
    );
    expectSame(
      await all('/accounting/bills', { sort, last_synced_at_min: String(Date.parse(min) + 1) }),
      bills.filter(({ last_synced_at }) => last_synced_at > min),
    );
  },
);

test.each(['last_synced_at ASC', 'updated_at ASC', 'updated_at DESC'])(
  'updated_at_min and updated_at_max are inclusive and leave out records without updated_at, sorted by %s',
  async (sort) => {
    const times = bills.flatMap(({ updated_at }) => updated_at ?? []).sort();
    const [min = '', max = ''] = [times[100], times[900]];
    const found = await all('/accounting/bills', { sort, updated_at_min: ms(min), updated_at_max: ms(max) });
    expectSame(
      found,
      bills.filter(({ updated_at }) => updated_at !== null && updated_at >= min && updated_at <= max),
    );
    const until = await all('/accounting/bills', { sort, updated_at_max: ms(max) });
    expectSame(
      until,
      bills.filter(({ updated_at }) => updated_at !== null && updated_at <= max),
    );
  },
);

test('a list without expense_type has expenses only; refunds come on request', async () => {
  const [unnamed, expenses, refunds] = [
    await all('/accounting/expenses', {}),
    await all('/accounting/expenses', { expense_type: 'expense' }),
    await all('/accounting/expenses', { expense_type: 'refund' }),
  ];
  expectSame(unnamed, expenses);
  expect(new Set(expenses.map(({ expense_type }) => expense_type))).toEqual(new Set(['expense']));
  expect(new Set(refunds.map(({ expense_type }) => expense_type))).toEqual(new Set(['refund']));
  expect(expenses.length + refunds.length).toBe(400);
  expect((await api.get('/accounting/expenses', { expense_type: 'gift' })).status).toBe(400);
});

test('a record that becomes a refund moves from one list to the other', async () => {
  const [expense] = await all('/accounting/expenses', {});
  const admin = createSandboxAdmin(sandbox.adminUrl);
  await admin.execute({
    kind: 'change',
    connection: 'acme-us',
    resource: 'expenses',
    id: expense?.id ?? '',
    patch: '{"expense_type":"refund"}',
  });
  expect((await all('/accounting/expenses', {})).map(({ id }) => id)).not.toContain(expense?.id);
  expect((await all('/accounting/expenses', { expense_type: 'refund' })).map(({ id }) => id)).toContain(
    expense?.id,
  );
});

test('transaction dates filter expenses where the platform supports it, and are ignored elsewhere', async () => {
  const range = { transaction_date_min: ms('2024-03-01'), transaction_date_max: ms('2024-03-31') };
  const march = await all('/accounting/expenses', range);
  expect(march.length).toBeGreaterThan(0);
  expect(march.every(({ transaction_date }) => String(transaction_date).startsWith('2024-03'))).toBe(true);
  const eu = { access_token: 'sandbox-token-acme-eu' };
  expectSame(await all('/accounting/expenses', { ...eu, ...range }), await all('/accounting/expenses', eu));
});

test('document numbers and names are matched exactly where the platform supports it', async () => {
  const bill = bills[5];
  expectSame(
    await all('/accounting/bills', { document_number: String(bill?.document_number) }),
    bills.slice(5, 6),
  );
  expect(await all('/accounting/bills', { document_number: 'INV-' })).toEqual([]);
  const [customer] = await all('/accounting/customers', {});
  expect(await all('/accounting/customers', { customer_name: String(customer?.customer_name) })).toEqual([
    customer,
  ]);
  const [item] = await all('/accounting/items', {});
  expect(await all('/accounting/items', { name: String(item?.name) })).toEqual([item]);
  const uk = { access_token: 'sandbox-token-acme-uk' };
  expect(await all('/accounting/customers', { ...uk, customer_name: 'nobody' })).not.toEqual([]);
});

test('subscriptions support updated_at only: sort and last_synced_at_min are ignored', async () => {
  const subscriptions = await all('/subscriptions', {});
  expect(subscriptions).toHaveLength(100);
  expect(subscriptions.map(({ updated_at }) => updated_at)).toEqual(
    subscriptions
      .map(({ updated_at }) => updated_at)
      .sort()
      .reverse(),
  );
  expect(subscriptions.some((subscription) => 'last_synced_at' in subscription)).toBe(false);
  expect(await all('/subscriptions', { sort: 'nonsense', last_synced_at_min: '99999999999999' })).toEqual(
    subscriptions,
  );
  const min = subscriptions[30]?.updated_at ?? '';
  expectSame(
    await all('/subscriptions', { updated_at_min: ms(min) }),
    subscriptions.filter(({ updated_at }) => (updated_at ?? '') >= min),
  );
});

test('platform_data is included on request, in lists only', async () => {
  const [plain] = await all('/accounting/bills', { limit: '1' });
  const [expanded] = await all('/accounting/bills', { limit: '1', expand: 'platform_data' });
  expect(plain).not.toHaveProperty('platform_data');
  expect(expanded).toMatchObject({ ...plain, platform_data: { Id: plain?.platform_id } });
  const fetched = await api.get(`/accounting/bills/${plain?.id ?? ''}`, { expand: 'platform_data' });
  expect(fetched.text).not.toContain('platform_data');
  expect((await api.get('/accounting/bills', { expand: 'everything' })).status).toBe(400);
});

test('a question mark within the query belongs to its value', async () => {
  const asked = '/accounting/customers?customer_name=Who?&access_token=sandbox-token-acme-us';
  const response = await fetch(sandbox.url + asked, {
    headers: {
      authorization: basicAuth('sandbox-client', 'sandbox-secret'),
      'x-service-version': '2023-03-14',
    },
  });
  expect([response.status, await response.json()]).toMatchObject([200, { customers: [] }]);
});

test('unknown parameters are ignored', async () => {
  expectSame(await all('/accounting/bills', { color: 'blue' }), bills);
});

function all(path: string, query: Record<string, string>): Promise<SandboxRecord[]> {
  return api.readAll(path, { limit: '500', ...query });
}

function ms(time: string): string {
  return String(Date.parse(time));
}

function expectSame(found: readonly SandboxRecord[], expected: readonly SandboxRecord[]): void {
  expect(found.map(({ id }) => id).sort()).toEqual(expected.map(({ id }) => id).sort());
}
