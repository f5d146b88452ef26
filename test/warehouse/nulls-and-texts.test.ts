import { describe, expect, test } from 'vitest';
import { bill, billLine, customer, expense, item, list } from '../support/finance-records.ts';
import { land, parsePage } from '../support/land.ts';
import { row, rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

describe('an empty string lands as null in IDs, codes, dates, times, and decimal strings, and unchanged elsewhere', () => {
  test.each([
    ['an id', 'vendor_id', '""', null],
    ['a code', 'currency_code', '""', null],
    ['a date', 'due_date', '""', null],
    ['a time', 'updated_at', '""', null],
    ['a decimal string', 'currency_rate', '""', null],
    ['a text', 'memo', '""', ''],
    ['an enum', 'status', '""', ''],
  ])('%s', async (_, field, sent, stored) => {
    expect(await landedBill({ [field]: sent }, field)).toEqual(stored);
  });

  test('an empty decimal string is not a field issue', async () => {
    const connectionId = await addTestConnection(warehouse);
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b', { currency_rate: '""' })]] });
    expect(
      await rows(warehouse, 'select from sync.field_issues where connection_id = $1', [connectionId]),
    ).toEqual([]);
  });
});

describe('the text `null` lands as null in codes, and unchanged elsewhere', () => {
  test.each([
    ['a code', 'currency_code', null],
    ['an id', 'vendor_id', 'null'],
    ['a text', 'memo', 'null'],
    ['an enum', 'status', 'null'],
  ])('%s', async (_, field, stored) => {
    expect(await landedBill({ [field]: '"null"' }, field)).toEqual(stored);
  });
});

describe('a field that the API did not send is null', () => {
  const fields = Object.keys(JSON.parse(bill('b')) as object).filter(
    (field) => field !== 'id' && field !== 'last_synced_at',
  );

  test.each([
    ['left out', undefined],
    ['null', 'null'],
  ])('a bill with every other field %s lands', async (_, sent) => {
    const connectionId = await addTestConnection(warehouse);
    const empty = bill('b', Object.fromEntries(fields.map((field) => [field, sent])));
    const [facts] = await land(warehouse, { connectionId, stream: 'bills', pages: [[empty]] });
    expect(facts).toMatchObject({ inserted: 1, quarantined: 0 });
    expect(
      await row(
        warehouse,
        `select count(*) filter (where value <> 'null') as fields_held
         from finance.bills, jsonb_each(to_jsonb(bills))
         where connection_id = $1 and key not like '\\_%' and key not in ('connection_id', 'id', 'last_synced_at')`,
        [connectionId],
      ),
    ).toEqual({ fields_held: 0 });
  });
});

test('a line without an item, or with a null item, lands with null in its item columns', async () => {
  const connectionId = await addTestConnection(warehouse);
  const lines = list(
    billLine({ item: 'null' }),
    billLine({ item: undefined }),
    billLine({ item: '{"id":null}' }),
    '{}',
  );
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b', { line_items: lines })]] });
  const none = { item_id: null, item_quantity: null, item_unit_amount: null };
  expect(
    await rows(
      warehouse,
      'select item_id, item_quantity, item_unit_amount from finance.bill_lines where connection_id = $1',
      [connectionId],
    ),
  ).toEqual([none, none, none, none]);
});

test('an item whose bill_item is null lands with null in its bill columns', async () => {
  const connectionId = await addTestConnection(warehouse);
  const record = item('i', { bill_item: 'null', invoice_item: '{"description":"Paper","unit_price":null}' });
  await land(warehouse, { connectionId, stream: 'items', pages: [[record]] });
  expect(
    await row(
      warehouse,
      `select bill_description, bill_unit_price, invoice_description, invoice_unit_price
       from finance.items where connection_id = $1`,
      [connectionId],
    ),
  ).toEqual({
    bill_description: null,
    bill_unit_price: null,
    invoice_description: 'Paper',
    invoice_unit_price: null,
  });
});

test('a new enum value lands', async () => {
  expect(await landedBill({ status: '"pending_approval"' }, 'status')).toBe('pending_approval');
});

test('an unknown field lands in history', async () => {
  const connectionId = await addTestConnection(warehouse);
  const record = customer('c', { loyalty: '{"points": 1.50}' });
  const [facts] = await land(warehouse, { connectionId, stream: 'customers', pages: [[record]] });
  expect(facts).toMatchObject({ inserted: 1, quarantined: 0 });
  expect(
    await row(
      warehouse,
      `select (payload -> 'loyalty')::text as sent from history.record_versions where connection_id = $1`,
      [connectionId],
    ),
  ).toEqual({ sent: '{"points": 1.50}' });
});

test('`\\u0000` lands as U+FFFD', async () => {
  expect(await landedBill({ memo: String.raw`"before\u0000after"` }, 'memo')).toBe('before\ufffdafter');
});

test('an escaped backslash before u0000 is ordinary text', async () => {
  expect(await landedBill({ memo: String.raw`"a\\u0000b"` }, 'memo')).toBe(String.raw`a\u0000b`);
});

test('the last value of a duplicate key counts, in the check and in Postgres', async () => {
  const connectionId = await addTestConnection(warehouse);
  const twice = bill('b').replace('{', '{"total_amount":"no number","memo":"first",');
  const [facts] = await land(warehouse, { connectionId, stream: 'bills', pages: [[twice]] });
  expect(facts).toMatchObject({ inserted: 1, quarantined: 0 });
  expect(
    await row(warehouse, 'select total_amount, memo from finance.bills where connection_id = $1', [
      connectionId,
    ]),
  ).toEqual({ total_amount: '110.25', memo: null });
});

test('line breaks, emoji, and right-to-left text land unchanged', async () => {
  const memo = 'first\nsecond\t"quoted" \\ 💶 שלום \u2028';
  expect(await landedBill({ memo: JSON.stringify(memo) }, 'memo')).toBe(memo);
});

test('platform_data lands as its object, or as null when it is null or missing', async () => {
  const connectionId = await addTestConnection(warehouse);
  const records = [
    expense('a', { platform_data: '{"Raw":{"rate":1.000}}' }),
    expense('b', { platform_data: 'null' }),
    expense('c'),
  ];
  await land(warehouse, { connectionId, stream: 'expenses', pages: [records] });
  expect(
    await rows(
      warehouse,
      'select platform_data::text from finance.expenses where connection_id = $1 order by id',
      [connectionId],
    ),
  ).toEqual([
    { platform_data: '{"Raw": {"rate": 1.000}}' },
    { platform_data: null },
    { platform_data: null },
  ]);
});

test('an empty page is read and has no records to land', async () => {
  expect(await parsePage('bills', [])).toEqual({
    records: [],
    refused: [],
    read: 0,
    highest: null,
    order: { ascends: true, lowest: null },
  });
});

async function landedBill(fields: Record<string, string>, column: string): Promise<unknown> {
  const connectionId = await addTestConnection(warehouse);
  const [facts] = await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b', fields)]] });
  expect(facts).toMatchObject({ inserted: 1, quarantined: 0 });
  const landed = await row(
    warehouse,
    `select ${column} as value from finance.bills where connection_id = $1`,
    [connectionId],
  );
  return landed.value;
}
