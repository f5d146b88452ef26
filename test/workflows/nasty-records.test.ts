import { expect, test } from 'vitest';
import type { ResourceName } from '../../sandbox/api/resources.ts';
import {
  bill,
  billCreditMemo,
  billLine,
  customer,
  expense,
  item,
  type Fields,
} from '../support/finance-records.ts';
import { createInstallation } from '../support/installation.ts';
import { row, rows } from '../support/rows.ts';
import { statusesOf, sync } from '../support/sync.ts';

const installation = await createInstallation();
const { admin, warehouse } = installation;
await installation.startWorker();

const landing: Record<string, string> = {
  'more digits than a double holds': bill('digits', {
    total_amount: '123456789012345678.123456789012345',
    amount_due: '9007199254740993',
    sub_total: '0.1000000000000000055511151231257827',
  }),
  'exponents, minus zero and trailing zeros': bill('exponents', {
    total_amount: '1.5e2',
    tax_amount: '-0',
    total_discount: '1E-7',
    sub_total: '100.1000',
  }),
  'decimal strings that are no numbers': item('unit-price', {
    bill_item: '{"description":"","unit_price":"1,234.50"}',
    invoice_item: '{"description":null,"unit_price":"N/A"}',
  }),
  'decimal strings with spaces': bill('spaces', { currency_rate: '" 1.0800 "' }),
  'NUL characters': bill('nul', { memo: String.raw`"a\u0000b"`, document_number: String.raw`"\\u0000"` }),
  'empty strings in ids, codes, dates and times': bill('empty', {
    vendor_id: '""',
    currency_code: '""',
    due_date: '""',
    updated_at: '""',
    currency_rate: '""',
    memo: '""',
    document_number: '""',
  }),
  'currencies that are the text null': billCreditMemo('null-word', { currency_code: '"null"' }),
  'nulls and absent fields': bill('absent', {
    vendor_id: undefined,
    line_items: 'null',
    linked_payments: undefined,
    updated_at: 'null',
    total_amount: 'null',
  }),
  'lines of nothing but nulls': bill('null-lines', {
    line_items: `[${billLine({ item: 'null', sub_total: 'null', account_id: 'null' })},{}]`,
  }),
  'new fields and enum values': customer('future', {
    status: '"archived"',
    risk_score: '{"value":0.1}',
    addresses: '[{"type":"STREET","city":"Ghent"}]',
  }),
  'dates with an offset, taken as written': expense('offset', {
    transaction_date: '"2024-01-31T23:30:00-08:00"',
    created_at: '"2024-01-31T23:30:00.123456-08:00"',
  }),
  'very long texts': bill('long', { memo: `"${'long '.repeat(50_000)}"` }),
  'astral and combining characters': customer('unicode', {
    customer_name: '"Zoë 🧾 \\ud83e\\uddfe e\\u0301"',
  }),
  'names that occur twice': bill('twice').replace('{', '{"memo":"first","total_amount":1,'),
};

test.for(Object.entries(landing))('%s land exactly', async ([, record]) => {
  const connection = await installation.connect({ records: 20 });
  const resource = detectResource(record);
  await admin.execute({ kind: 'add', connection, resource, record });
  const { run } = await sync(installation, connection, { resources: [resource] });
  expect(run.status).toBe('succeeded');
  const comparison = await installation.compare(connection, { tables: [resource] });
  expect(comparison).toMatchObject({ differences: [], quarantined: 0 });
});

const refused: Record<string, { record: string; reason: RegExp }> = {
  'a record without id': { record: bill('none', { id: undefined }), reason: /id is missing/ },
  'a number for an id': { record: bill('none', { id: '17' }), reason: /id is a number, not a text/ },
  'an object for an amount': {
    record: bill('object', { total_amount: '{"value":"10.00"}' }),
    reason: /total_amount is an object, not a number/,
  },
  'a text for an amount': {
    record: bill('text', { amount_due: '"10.00"' }),
    reason: /amount_due is a text, not a number/,
  },
  'a list that is none': {
    record: customer('list', { addresses: '{}' }),
    reason: /addresses is an object, not a list/,
  },
  'a wrong type in a line': {
    record: bill('line', { line_items: `[${billLine()},${billLine({ description: '42' })}]` }),
    reason: /line_items\[1\]\.description is a number, not a text/,
  },
  'an impossible day': {
    record: bill('day', { issue_date: '"2025-02-30T00:00:00.000Z"' }),
    reason: /issue_date is not a possible date/,
  },
  'a day in words': {
    record: expense('word', { transaction_date: '"yesterday"' }),
    reason: /transaction_date/,
  },
};

test.for(Object.entries(refused))(
  '%s goes to quarantine with its reason and payload, and the other records land',
  async ([, { record, reason }]) => {
    const connection = await installation.connect({ records: 20 });
    const resource = detectResource(record);
    await admin.execute(
      { kind: 'add', connection, resource, record: recordLike(resource, 'good') },
      { kind: 'add', connection, resource, record },
    );
    const { run, failure } = await sync(installation, connection, { resources: [resource] });
    expect(failure).toBeUndefined();
    expect(run.status).toBe('partial');
    const comparison = await installation.compare(connection, { tables: [resource] });
    expect(comparison).toMatchObject({ differences: [], quarantined: 1 });
    const entry = await row(warehouse, 'select reason from sync.quarantine where connection_id = $1', [
      connection,
    ]);
    expect(entry.reason).toMatch(reason);
  },
);

test('a record without last_synced_at is quarantined', async () => {
  const connection = await installation.connect({ records: 20 });
  await admin.execute({
    kind: 'add',
    connection,
    resource: 'bills',
    keepLastSyncedAt: true,
    record: bill('timeless', { last_synced_at: undefined }),
  });
  const { run } = await sync(installation, connection, { resources: ['bills'] });
  expect(statusesOf(run).bills).toBe('partial');
  expect(await installation.compare(connection, { tables: ['bills'] })).toMatchObject({
    differences: [],
    quarantined: 1,
  });
});

test('a record that becomes invalid keeps its last good version, and its quarantine entry closes once it lands', async () => {
  const connection = await installation.connect({ records: 20 });
  const target = { connection, resource: 'bills', id: 'b' } as const;
  await admin.execute({ kind: 'add', connection, resource: 'bills', record: bill('b', { memo: '"good"' }) });
  await sync(installation, connection, { resources: ['bills'] });
  await admin.execute({ kind: 'change', ...target, patch: '{"memo":7}' });
  expect((await sync(installation, connection, { resources: ['bills'] })).run.status).toBe('partial');
  const memos = `select memo from finance.bills where connection_id = $1 and id = 'b'`;
  expect(await rows(warehouse, memos, [connection])).toEqual([{ memo: 'good' }]);
  await admin.execute({ kind: 'change', ...target, patch: '{"memo":"mended"}' });
  expect((await sync(installation, connection, { resources: ['bills'] })).run.status).toBe('succeeded');
  expect(await installation.compare(connection, { tables: ['bills'] })).toMatchObject({
    differences: [],
    quarantined: 0,
  });
});

const recordBuilders: Partial<Record<ResourceName, (id: string, fields?: Fields) => string>> = {
  bills: bill,
  expenses: expense,
  bill_credit_memos: billCreditMemo,
  customers: customer,
  items: item,
};

function recordLike(resource: ResourceName, id: string): string {
  return recordBuilders[resource]?.(id) ?? bill(id);
}

/** The resource that alone has the field in the record. */
function detectResource(record: string): ResourceName {
  const marks: [string, ResourceName][] = [
    ['"transaction_date"', 'expenses'],
    ['"linked_bills"', 'bill_credit_memos'],
    ['"customer_name"', 'customers'],
    ['"quantity_on_hand"', 'items'],
  ];
  return marks.find(([mark]) => record.includes(mark))?.[1] ?? 'bills';
}
