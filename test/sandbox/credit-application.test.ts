import { afterAll, beforeAll, expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/start-sandbox.ts';
import type { Sandbox } from '../../sandbox/start-sandbox.ts';
import { createSandboxAdmin } from '../support/sandbox-admin.ts';
import type { SandboxAdmin } from '../support/sandbox-admin.ts';
import { createSandboxApi } from './sandbox-api.ts';
import type { SandboxApi, SandboxRecord } from './sandbox-api.ts';

let sandbox: Sandbox;
let api: SandboxApi;
let admin: SandboxAdmin;

beforeAll(async () => {
  sandbox = await startSandbox({ records: 300 });
  api = createSandboxApi(sandbox);
  admin = createSandboxAdmin(sandbox.adminUrl);
  await admin.configure({ requestsPer10s: 100_000 });
});
afterAll(() => sandbox.close());

const large = '123456789012345678.90';

test('an applied credit leaves the memo and the bills by the same amounts, to the last digit', async () => {
  const bill = await create('bill', `"total_amount":${large}`);
  const other = await create('bill', '"total_amount":0.30');
  const memo = await create('bill_credit_memo', '"total_amount":123456789012345679.000');
  const before = await admin.now();
  const answer = await apply(memo, [
    [bill, '123456789012345678.1'],
    [other, '0.30'],
  ]);
  expect(answer).toMatchObject({ status: 200, text: '{"bill_credit_application":{"success":true}}' });

  const entry = (id: string, amount: string) =>
    `[{"id":"${id}","allocated_date":"2026-02-01T00:00:00.000Z","allocated_amount":${amount}}]`;
  const billText = (await api.get(`/accounting/bills/${bill}`)).text;
  expect(billText).toContain('"amount_due":0.80,');
  expect(billText).toContain('"status":"partially_paid"');
  expect(billText).toContain(`"linked_credit_memos":${entry(memo, '123456789012345678.1')}`);
  const otherText = (await api.get(`/accounting/bills/${other}`)).text;
  expect(otherText).toContain('"amount_due":0.00,');
  expect(otherText).toContain('"status":"paid"');
  const memoText = (await api.get(`/accounting/bill_credit_memos/${memo}`)).text;
  expect(memoText).toContain('"remaining_amount":0.600,');
  expect(memoText).toContain('"status":"partially_paid"');
  expect(memoText).toContain(
    `"linked_bills":${entry(bill, '123456789012345678.1').slice(0, -1)},${entry(other, '0.30').slice(1)}`,
  );
  const moved = await api.readAll('/accounting/bills', { last_synced_at_min: String(before) });
  expect(moved.map(({ id }) => id).sort()).toEqual([bill, other].sort());

  expect((await apply(memo, [[bill, '0.6']])).status).toBe(200);
  const spent = (await api.get(`/accounting/bill_credit_memos/${memo}`)).text;
  expect(spent).toContain('"remaining_amount":0.000,"status":"paid"');
  expect(spent.match(/allocated_amount/g)).toHaveLength(3);
  expect((await api.get(`/accounting/bills/${bill}`)).text).toContain('"amount_due":0.20,');
});

test('a credit from the first sync can be applied to a further bill, in addition to its existing links', async () => {
  const memos = await content('bill_credit_memos');
  const memo = memos.find(({ status }) => status === 'partially_paid');
  const { vendor_id, currency_code, linked_bills } = memo as unknown as {
    vendor_id: string;
    currency_code: string;
    linked_bills: unknown[];
  };
  const bill = await create('bill', `"total_amount":1000000`, { vendor_id, currency_code });
  expect(await apply(memo!.id, [[bill, '0.01']])).toMatchObject({ status: 200 });
  const after = (await content('bill_credit_memos')).find(({ id }) => id === memo!.id);
  expect(after?.linked_bills).toHaveLength(linked_bills.length + 1);
});

test('an application that the books do not allow is refused, and no amount changes', async () => {
  const bill = await create('bill', '"total_amount":10');
  const foreign = await create('bill', '"total_amount":10', { currency_code: 'EUR' });
  const others = await create('bill', '"total_amount":10', { vendor_id: 'v2' });
  const draft = await create('bill', '"total_amount":10', { status: 'draft' });
  const memo = await create('bill_credit_memo', '"total_amount":12');
  const before = [await content('bills'), await content('bill_credit_memos')];
  for (const [bills, code] of [
    [[[bill, '10.000000000000000001']], 'OVER_APPLIED'],
    [
      [
        [bill, '10'],
        [await create('bill', '"total_amount":10'), '2.01'],
      ],
      'OVER_APPLIED',
    ],
    [[[foreign, '1']], 'MISMATCH'],
    [[[others, '1']], 'MISMATCH'],
    [[[draft, '1']], 'NOT_OPEN'],
  ] as const) {
    const { status, text } = await apply(memo, bills);
    expect([status, (JSON.parse(text) as { errors: { code: string }[] }).errors[0]?.code]).toEqual([
      200,
      code,
    ]);
  }
  const mismatched = await apply(memo, [[bill, '1']], '"vendor_id":"v9",');
  expect(mismatched.text).toContain('differ in vendor_id');
  const ids = new Set(before.flat().map(({ id }) => id));
  const after = [await content('bills'), await content('bill_credit_memos')].flat();
  expect(after.filter(({ id }) => ids.has(id)).sort(byId)).toEqual(before.flat().sort(byId));
});

test('an application with an unknown record, a bill named twice or no amount is invalid', async () => {
  const bill = await create('bill', '"total_amount":10');
  const memo = await create('bill_credit_memo', '"total_amount":12');
  for (const [from, bills, problem] of [
    ['nobody', [[bill, '1']], 'no record nobody'],
    [memo, [['nobody', '1']], 'no record nobody'],
    [memo, [[bill, '0']], 'allocated_amount: '],
    [memo, [[bill, '-1']], 'allocated_amount: '],
    [memo, [[bill, '"1"']], 'allocated_amount: '],
    [memo, [], 'linked_bills: '],
    [
      memo,
      [
        [bill, '1'],
        [bill, '2'],
      ],
      'names a bill twice',
    ],
  ] as const) {
    const { status, text } = await apply(from, bills);
    expect([status, text]).toEqual([400, expect.stringContaining(problem)]);
  }
});

test('a bill with an applied credit cannot be deleted', async () => {
  const bill = await create('bill', '"total_amount":10');
  const memo = await create('bill_credit_memo', '"total_amount":12');
  await apply(memo, [[bill, '10']]);
  expect((await api.send('DELETE', `/accounting/bills/${bill}`)).text).toBe(
    '{"deleted_bill":{"code":"has_credits","success":false}}',
  );
});

async function create(
  wrapper: 'bill' | 'bill_credit_memo',
  line: string,
  fields: Record<string, string> = {},
): Promise<string> {
  const record = JSON.stringify({ vendor_id: 'v1', ...fields }).slice(0, -1);
  const body = `{"${wrapper}":${record},"line_items":[{${line}}]}}`;
  const { text } = await api.send('POST', `/accounting/${wrapper}s`, body);
  return (JSON.parse(text) as Record<string, { id: string }>)[wrapper]!.id;
}

function apply(memo: string, bills: readonly (readonly [string, string])[], more = '') {
  const linked = bills.map(([id, amount]) => `{"id":"${id}","allocated_amount":${amount}}`).join(',');
  const body = `{"bill_credit_application":{"bill_credit_memo_id":"${memo}",${more}"transaction_date":"2026-02-01T00:00:00.000Z","linked_bills":[${linked}]}}`;
  return api.send('POST', '/accounting/bill_credit_applications', body);
}

async function content(resource: 'bills' | 'bill_credit_memos'): Promise<SandboxRecord[]> {
  return (await admin.content('acme-us', resource)).map((line) => JSON.parse(line) as SandboxRecord);
}

function byId(left: SandboxRecord, right: SandboxRecord): number {
  return left.id < right.id ? -1 : 1;
}
