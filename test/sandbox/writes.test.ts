import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { startSandbox } from '../../sandbox/start-sandbox.ts';
import type { Sandbox } from '../../sandbox/start-sandbox.ts';
import { createSandboxAdmin } from '../support/sandbox-admin.ts';
import type { SandboxAdmin } from '../support/sandbox-admin.ts';
import { createSandboxApi } from './sandbox-api.ts';
import type { Answer, SandboxApi, SandboxRecord } from './sandbox-api.ts';

let sandbox: Sandbox;
let api: SandboxApi;
let admin: SandboxAdmin;

beforeAll(async () => {
  sandbox = await startSandbox({ records: 300 });
  api = createSandboxApi(sandbox);
  admin = createSandboxAdmin(sandbox.adminUrl);
  await admin.configure({ requestsPer10s: 100_000 });
});
afterEach(() => admin.clearFaults());
afterAll(() => sandbox.close());

const bills = '/accounting/bills';
const simpleBill = '{"bill":{"vendor_id":"v1","line_items":[{"account_id":"a1","total_amount":10.50}]}}';

test('a created bill has every digit as written, its own IDs and times, and amounts computed from its lines', async () => {
  const before = await admin.now();
  const lines =
    '[{"account_id":"a1","description":"\\u00e9 \\"x\\"","total_amount":123456789012345678.100000},' +
    '{"sub_total":10.50,"tax_amount":2.1},{"item":{"id":"i1","quantity":2.5,"unit_amount":4.20},"discount_amount":0.5},{"description":"only words"}]';
  const { status, text } = await api.send(
    'POST',
    bills,
    `{ "bill" : {"vendor_id":"v1","issue_date":"2026-01-31T00:00:00.000Z","currency_code":"EUR","currency_rate":"1.0843000","memo":null,"total_discount":0.10,"line_items":${lines}}}`,
  );
  expect(status).toBe(200);
  for (const member of [
    '"total_amount":123456789012345678.100000',
    '"sub_total":123456789012345698.600000,"tax_amount":2.1,"total_discount":0.10',
    '"total_amount":123456789012345700.600000,"document_number":null',
    '"amount_due":123456789012345700.600000,"currency_code":"EUR","status":"open"',
    '"sub_total":10.50,"tax_amount":2.1,"total_amount":12.60',
    '"discount_amount":0.5,"discount_percentage":null,"sub_total":10.000,"tax_amount":0,"total_amount":10.000,"item":{"id":"i1","quantity":2.5,"unit_amount":4.20}',
    '"description":"\\u00e9 \\"x\\""',
    '"currency_rate":"1.0843000"',
    '"linked_credit_memos":[],"linked_payments":[]',
  ])
    expect(text).toContain(member);
  const { bill } = JSON.parse(text) as { bill: SandboxRecord };
  for (const time of [bill.created_at, bill.updated_at, bill.last_synced_at])
    expect(Date.parse(String(time))).toBeGreaterThanOrEqual(before);
  const fetched = await api.get(`${bills}/${bill.id}`);
  expect(fetched.text).toContain(text.slice('{'.length));
  const byPlatformId = await api.get(`${bills}/${String(bill.platform_id)}`, { id_type: 'platform' });
  expect(byPlatformId.text).toBe(fetched.text);
  const [listed] = await api.readAll(bills, { last_synced_at_min: String(before) });
  expect(listed?.id).toBe(bill.id);
});

test.each([
  ['XERO', { records: 0 }],
  ['QUICKBOOKS', { records: 0 }],
  ['QUICKBOOKS', { records: 3 }],
  ['QUICKBOOKS', { records: 300, ready: false }],
] as const)('a bill written to a company of %s with %o is visible at once', async (platform, begins) => {
  const name = `empty-${platform.toLowerCase()}-${begins.records}`;
  await admin.execute({ kind: 'add-connection', name, platform, ...begins });
  const token = { access_token: `sandbox-token-${name}`, force_fetch: 'true' };
  const { bill } = JSON.parse((await api.send('POST', bills, simpleBill, token)).text) as {
    bill: SandboxRecord;
  };
  expect((await api.get(`${bills}/${bill.id}`, token)).status).toBe(200);
  for (const sort of ['last_synced_at ASC', null])
    expect((await api.readAll(bills, { ...token, sort })).map(({ id }) => id)).toContain(bill.id);
});

test('records of other resources can be created, with defaults for required fields', async () => {
  const expense = await created(
    '/accounting/expenses',
    '{"expense":{"account_id":"a","line_items":[{"total_amount":1.10}]}}',
  );
  expect(expense).toMatchObject({ expense_type: 'expense', currency_code: 'USD', vendor_id: null });
  expect(expense.line_items).toEqual([
    {
      account_id: null,
      class_id: null,
      customer_id: null,
      department_id: null,
      location_id: null,
      tax_rate_id: null,
      total_amount: 1.1,
      description: null,
    },
  ]);
  expect('currency_rate' in expense).toBe(false);
  const memo = await created(
    '/accounting/bill_credit_memos',
    '{"bill_credit_memo":{"vendor_id":"v","line_items":[{"total_amount":5.00},{"total_amount":0.50}]}}',
  );
  expect(memo).toMatchObject({ total_amount: 5.5, remaining_amount: 5.5, status: 'open', linked_bills: [] });
  expect(memo.document_number).toBe(`CM-${String(memo.platform_id)}`);
  const customer = await created(
    '/accounting/customers',
    '{"customer":{"customer_name":"New & Co","addresses":[{"type":"billing","city":"Köln"}]}}',
  );
  expect(customer).toMatchObject({ status: 'ACTIVE', customer_name: 'New & Co', email: null });
  expect(customer.addresses).toMatchObject([{ type: 'billing', city: 'Köln', region: null }]);
  const item = await created(
    '/accounting/items',
    '{"item":{"name":"Lamp","type":"inventory","quantity_on_hand":9007199254740993.10,"asset_account_id":"a","bill_item":{"account_id":"b","unit_price":"1.2300"}}}',
  );
  expect(item).toMatchObject({ status: 'active', bill_item: { description: null, unit_price: '1.2300' } });
  expect(item.bill_item).not.toHaveProperty('account_id');
  expect(item).not.toHaveProperty('asset_account_id');
  expect((await api.get(`/accounting/items/${item.id}`)).text).toContain('9007199254740993.10');
});

test('an update changes the given fields, keeps the others, and recomputes dependent amounts', async () => {
  const bill = await created(bills, simpleBill);
  const patch = '{"bill":{"memo":"later","line_items":[{"total_amount":20.00},{"total_amount":0.125}]}}';
  const { status, text } = await api.send('PATCH', `${bills}/${bill.id}`, patch);
  expect(status).toBe(200);
  expect(text).toContain('"total_amount":20.125,');
  expect(text).toContain('"amount_due":20.125,');
  const { bill: updated } = JSON.parse(text) as { bill: SandboxRecord };
  expect(updated).toMatchObject({ id: bill.id, vendor_id: 'v1', memo: 'later', created_at: bill.created_at });
  expect(Date.parse(String(updated.updated_at))).toBeGreaterThanOrEqual(Date.parse(String(bill.updated_at)));
  const draft = await api.send('PATCH', `${bills}/${bill.id}`, '{"bill":{"status":"draft"}}');
  expect(draft.text).toContain('"status":"draft"');
  for (const [path, patched] of [
    ['expenses', '{"expense":{"memo":"m"}}'],
    ['customers', '{"customer":{"phone":"0"}}'],
    ['items', '{"item":{"code":"c"}}'],
  ] as const) {
    const [line = ''] = await admin.content('acme-us', path, { limit: 1 });
    const record = JSON.parse(line) as SandboxRecord;
    const answer = await api.send('PATCH', `/accounting/${path}/${record.id}`, patched);
    const [singular = ''] = Object.keys(JSON.parse(answer.text) as object);
    const after = (JSON.parse(answer.text) as Record<string, SandboxRecord>)[singular];
    const { last_synced_at, updated_at } = after ?? record;
    const fields = (JSON.parse(patched) as Record<string, object>)[singular];
    expect(after).toEqual({ ...record, ...fields, last_synced_at, updated_at });
  }
});

test('a settled bill keeps its vendor and cannot fall below the settled amount', async () => {
  const settled = (await records('bills')).find(({ status }) => status === 'paid');
  const path = `${bills}/${settled?.id ?? ''}`;
  for (const [field, code] of [
    ['"vendor_id":"other"', 'SETTLED'],
    ['"status":"void"', 'SETTLED'],
    ['"status":"open"', 'STATUS_MISMATCH'],
    ['"line_items":[{"total_amount":0.01}],"total_discount":0', 'OVERPAID'],
    ['"total_amount":1', 'AMOUNTS_DO_NOT_ADD_UP'],
  ] as const) {
    const { status, text } = await api.send('PATCH', path, `{"bill":{${field}}}`);
    expect([status, firstError(text).code]).toEqual([200, code]);
  }
  const raised = await api.send(
    'PATCH',
    path,
    '{"bill":{"line_items":[{"total_amount":1000000}],"total_discount":null}}',
  );
  const { bill } = JSON.parse(raised.text) as { bill: SandboxRecord };
  expect(bill.status).toBe('partially_paid');
});

test('a deleted record is gone, and leaves an event where the platform detects deletions', async () => {
  const bill = await created(bills, simpleBill);
  expect(await api.send('DELETE', `${bills}/${bill.id}`)).toMatchObject({
    status: 200,
    text: '{"deleted_bill":{"code":"deleted","success":true}}',
  });
  expect((await api.get(`${bills}/${bill.id}`)).status).toBe(410);
  expect((await api.get('/events', { type: 'object_deleted' })).text).toContain(bill.id);
  expect(await api.send('DELETE', `${bills}/${bill.id}`)).toMatchObject({
    status: 200,
    text: '{"deleted_bill":{"code":"not_found","success":false}}',
  });
  const [line = ''] = await admin.content('acme-eu', 'expenses', { limit: 1 });
  const path = `/accounting/expenses/${(JSON.parse(line) as SandboxRecord).id}`;
  const deleted = await api.send('DELETE', path, undefined, { access_token: 'sandbox-token-acme-eu' });
  expect(deleted.text).toBe('{"deleted_expense":{"code":"deleted","success":true}}');
  const inBritain = { access_token: 'sandbox-token-acme-uk' };
  const british = JSON.parse((await api.send('POST', bills, simpleBill, inBritain)).text) as {
    bill: SandboxRecord;
  };
  await api.send('DELETE', `${bills}/${british.bill.id}`, undefined, inBritain);
  expect((await api.get('/events', { type: 'object_deleted', ...inBritain })).text).toContain('"events":[]');
});

test.each([
  ['', 'no JSON'],
  ['{"bill":', 'no JSON'],
  ['[]', 'expected object'],
  ['{}', 'bill: '],
  ['{"bill":[]}', 'bill: '],
  ['{"bill":{"line_items":[{"total_amount":1}]}}', 'vendor_id must be given'],
  ['{"bill":{"vendor_id":"v","line_items":[]}}', 'line_items must be given'],
  ['{"bill":{"vendor_id":7,"line_items":[{}]}}', 'vendor_id: '],
  [
    '{"bill":{"vendor_id":"v","line_items":[{"total_amount":"1.00"}]}}',
    'line_items.0.total_amount: Invalid input: expected number',
  ],
  [
    '{"bill":{"vendor_id":"v","currency_code":"EURO","line_items":[{}]}}',
    'currency_code: is no currency code',
  ],
  ['{"bill":{"vendor_id":"v","status":"closed","line_items":[{}]}}', 'status: Invalid option'],
  ['{"bill":{"vendor_id":"v","issue_date":null,"line_items":[{}]}}', 'issue_date: '],
  ['{"bill":{"vendor_id":"v","issue_date":"2025-02-30","line_items":[{}]}}', 'issue_date: '],
  ['{"bill":{"vendor_id":"v","currency_rate":"abc","line_items":[{}]}}', 'currency_rate: is no decimal'],
  ['{"bill":{},"response_mode":"later"}', 'response_mode: '],
])('the body %s is refused with the reason', async (body, problem) => {
  const { status, text } = await api.send('POST', bills, body);
  expect(status).toBe(400);
  expect(text).toContain(problem);
});

test("a percentage discount applies to a line's price unless the line has a discount amount", async () => {
  const priced = '"item":{"id":"i","quantity":2,"unit_amount":3.10}';
  const { line_items: lines } = await created(
    bills,
    `{"bill":{"vendor_id":"v","line_items":[{${priced},"discount_percentage":12.5},{${priced},"discount_percentage":50,"discount_amount":1.20}]}}`,
  );
  expect(lines).toMatchObject([
    { sub_total: 5.425, total_amount: 5.425 },
    { sub_total: 5, total_amount: 5 },
  ]);
});

test('fields that only the service writes are ignored or refused, and missing required fields can be allowed', async () => {
  const body =
    '{"bill":{"id":"mine","amount_due":1,"extra":2,"vendor_id":"v","line_items":[{"total_amount":3}]}}';
  const bill = await created(bills, body);
  expect(bill).toMatchObject({ amount_due: 3 });
  expect(bill.id).not.toBe('mine');
  expect(bill).not.toHaveProperty('extra');
  await admin.configure({ otherFields: 'refuse', requiredFields: false, requestsPer10s: 100_000 });
  expect((await api.send('POST', bills, body)).text).toContain('id cannot be written');
  expect((await api.send('POST', bills, '{"bill":{}}')).status).toBe(200);
  await admin.configure({ requestsPer10s: 100_000 });
});

test('a write is treated like any other request: credentials, version, token, refusal and faults', async () => {
  const statusOf = async (
    query: Record<string, string | null>,
    headers: Record<string, string | null> = {},
  ) => (await api.send('POST', bills, simpleBill, query, headers)).status;
  expect(await statusOf({}, { authorization: null })).toBe(401);
  expect(await statusOf({}, { 'x-service-version': '1999-01-01' })).toBe(400);
  expect(await statusOf({ access_token: null })).toBe(400);
  expect(await statusOf({ access_token: 'wrong' })).toBe(401);
  const refusal = { status: 403, code: 'CONNECTION_DISABLED' };
  await admin.execute({ kind: 'refuse', connection: 'acme-uk', refusal });
  expect(await statusOf({ access_token: 'sandbox-token-acme-uk' })).toBe(403);
  await admin.execute({ kind: 'refuse', connection: 'acme-uk', refusal: null });
  await admin.addFault({ match: { method: 'POST' }, times: 1, fault: { kind: 'status', status: 500 } });
  expect((await api.get(bills)).status).toBe(200);
  expect(await statusOf({})).toBe(500);
  expect((await api.send('PATCH', `${bills}/nobody`, '{"bill":{}}')).status).toBe(410);
  expect((await api.send('POST', bills, `{"x":"${'x'.repeat(2_000_000)}"}`)).status).toBe(400);
});

test('what the platform of the connection cannot write is 404', async () => {
  const british = { access_token: 'sandbox-token-acme-uk' };
  for (const [method, path] of [
    ['PATCH', '/accounting/expenses/x'],
    ['DELETE', '/accounting/expenses/x'],
    ['POST', '/accounting/bill_credit_applications'],
  ] as const)
    expect((await api.send(method, path, '{}', british)).status).toBe(404);
  const streaming = { access_token: 'sandbox-token-acme-subscriptions' };
  expect((await api.send('POST', bills, simpleBill, streaming)).status).toBe(404);
});

test.each([
  [450, 'PLATFORM_BAD_REQUEST'],
  [451, 'PLATFORM_UNAUTHORIZED'],
  [452, 'PLATFORM_RATE_LIMITED'],
  [550, 'PLATFORM_SERVER_ERROR'],
] as const)('the platform’s error is answered as %i, and nothing is written', async (status, code) => {
  const { counts } = await admin.connection('acme-us');
  await admin.addFault({
    match: { path: bills },
    times: 1,
    fault: { kind: 'platform-error', status, message: 'Period is closed' },
  });
  expect((await api.get(bills)).status).toBe(200);
  const answer = await api.send('POST', bills, simpleBill);
  expect(answer.status).toBe(status);
  expect(JSON.parse(answer.text)).toEqual({
    error_type: 'PLATFORM_ERROR',
    error_code: code,
    error_message: 'Period is closed',
    error_metadata: { source: 'platform', human_readable: 'Period is closed' },
  });
  expect((await admin.connection('acme-us')).counts).toEqual(counts);
});

test('the platform’s refusal is answered in the body', async () => {
  await admin.addFault({
    times: 1,
    fault: { kind: 'platform-refusal', code: 'DUPLICATE_NAME', message: 'The name exists.' },
  });
  const { status, text } = await api.send(
    'POST',
    '/accounting/customers',
    '{"customer":{"customer_name":"A"}}',
  );
  expect([status, JSON.parse(text)]).toEqual([
    200,
    {
      errors: [
        {
          code: 'DUPLICATE_NAME',
          slug: 'duplicate-name',
          description: 'The name exists.',
          details: null,
          source: 'platform',
        },
      ],
    },
  ]);
});

test('the older version reads and answers its own shape of a bill', async () => {
  const body = '{"bill":{"vendor_id":"v","currency":"GBP","line_items":[{"total_amount":1.50}]}}';
  const { text } = await api.send('POST', bills, body, {}, { 'x-service-version': '2023-02-07' });
  expect(text).toContain('"amount_due":"1.50","currency":"GBP"');
  expect(text).not.toContain('currency_code');
});

async function created(path: string, body: string): Promise<SandboxRecord> {
  const answer: Answer = await api.send('POST', path, body);
  expect(answer.status, answer.text).toBe(200);
  const [record] = Object.values(JSON.parse(answer.text) as Record<string, SandboxRecord>);
  return record!;
}

async function records(resource: 'bills'): Promise<SandboxRecord[]> {
  return (await admin.content('acme-us', resource)).map((line) => JSON.parse(line) as SandboxRecord);
}

function firstError(text: string): { code: string } {
  return (JSON.parse(text) as { errors: [{ code: string }] }).errors[0];
}
