import { describe, expect, test } from 'vitest';
import { bill, billLine, customer, list, subscription } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { row, rows, type Row } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

const withoutId = bill('x', { id: undefined });

describe('a record that cannot land is quarantined with the reason and its text, and the rest of the page lands', () => {
  test.each([
    ['a missing id', withoutId, null, 'id is missing'],
    ['an empty id', bill(''), null, 'id is empty'],
    ['a number as id', bill('x', { id: '7' }), null, 'id is a number, not a text'],
    ['no version', bill('x', { last_synced_at: undefined }), 'x', 'last_synced_at is missing'],
    [
      'an impossible version',
      bill('x', { last_synced_at: '"soon"' }),
      'x',
      'last_synced_at is not a possible date',
    ],
    [
      'an object where a number belongs',
      bill('x', { total_amount: '{"value": 1.10}' }),
      'x',
      'total_amount is an object, not a number',
    ],
    [
      'a text where a number belongs',
      bill('x', { amount_due: '"1.10"' }),
      'x',
      'amount_due is a text, not a number',
    ],
    ['a number where a text belongs', bill('x', { memo: '1.10' }), 'x', 'memo is a number, not a text'],
    [
      'a number where a decimal string belongs',
      bill('x', { currency_rate: '1.10' }),
      'x',
      'currency_rate is a number, not a text',
    ],
    ['a boolean where a text belongs', bill('x', { status: 'true' }), 'x', 'status is a boolean, not a text'],
    [
      'a list where an object belongs',
      bill('x', { platform_data: '[]' }),
      'x',
      'platform_data is a list, not an object',
    ],
    [
      'an object where a list belongs',
      bill('x', { line_items: '{}' }),
      'x',
      'line_items is an object, not a list',
    ],
    ['null in a list', bill('x', { line_items: '[null]' }), 'x', 'line_items[0] is null, not an object'],
    [
      'a text as item',
      bill('x', { line_items: '[{"item":"paper"}]' }),
      'x',
      'line_items[0].item is a text, not an object',
    ],
    [
      'a text as quantity',
      bill('x', { line_items: list(billLine(), '{"item":{"quantity":"4"}}') }),
      'x',
      'line_items[1].item.quantity is a text, not a number',
    ],
    [
      'a currency that is none',
      bill('x', { currency_code: `"${'C'.repeat(2_001)}"` }),
      'x',
      'currency_code is longer than 2000 bytes, which no index surely holds',
    ],
    [
      'a status that is none',
      bill('x', { status: `"${'s'.repeat(2_001)}"` }),
      'x',
      'status is longer than 2000 bytes, which no index surely holds',
    ],
    [
      'numbers that are much longer with all their digits',
      bill('x', { remark: list(...Array<string>(12).fill('1e89999')) }),
      'x',
      'has numbers whose exponents stand for more than 5,000 digits in one of them, or 1,000,000 in all',
    ],
    ['30 February', bill('x', { issue_date: '"2024-02-30"' }), 'x', 'issue_date is not a possible date'],
    [
      '29 February of no leap year',
      bill('x', { due_date: '"2023-02-29"' }),
      'x',
      'due_date is not a possible date',
    ],
    ['a date in words', bill('x', { due_date: '"tomorrow"' }), 'x', 'due_date is not a possible date'],
    [
      'the hour 25',
      bill('x', { updated_at: '"2024-01-15T25:00:00Z"' }),
      'x',
      'updated_at is not a possible date',
    ],
    ['a text instead of a record', '"x"', null, 'the record is a text, not an object'],
    ['null instead of a record', 'null', null, 'the record is null, not an object'],
  ])('%s', async (_, bad, recordId, reason) => {
    const connectionId = await addTestConnection(warehouse);
    const page = [bill('a'), bad, bill('z')];
    const [facts] = await land(warehouse, { connectionId, stream: 'bills', pages: [page] });
    expect(facts).toMatchObject({ read: 3, inserted: 2, quarantined: 1 });
    expect(await entriesOf(connectionId)).toEqual([
      { resource: 'bills', stream: 'bills', record_id: recordId, reason, payload: bad, status: 'open' },
    ]);
    expect(await idsOf(connectionId)).toEqual(['a', 'z']);
  });

  test('all problems of a record are reported together', async () => {
    const connectionId = await addTestConnection(warehouse);
    const bad = bill('x', { total_amount: '"1"', due_date: '"never"' });
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bad]] });
    const [entry] = await entriesOf(connectionId);
    expect(entry?.reason).toBe('due_date is not a possible date; total_amount is a text, not a number');
  });

  test('half an interval of a subscription', async () => {
    const connectionId = await addTestConnection(warehouse);
    const bad = subscription('x', { items: '[{"interval_count":1.5}]' });
    await land(warehouse, { connectionId, stream: 'subscriptions', pages: [[bad, subscription('s')]] });
    expect(await entriesOf(connectionId)).toMatchObject([
      { record_id: 'x', reason: 'items[0].interval_count is a number, not a whole number' },
    ]);
  });
});

describe('a record that only Postgres refuses is quarantined alone, and the rest of its page lands', () => {
  test.each([
    ['half of a surrogate pair', { memo: String.raw`"broken \ud800"` }],
    ['a number too large for numeric', { total_amount: '1e200000' }],
    ['a number too small for numeric', { total_amount: '1e-20000' }],
  ])('%s', async (_, fields) => {
    const connectionId = await addTestConnection(warehouse);
    const page = Array.from({ length: 23 }, (_, index) =>
      bill(`b${String(index).padStart(2, '0')}`, index === 4 || index === 17 ? fields : {}),
    );
    const [facts] = await land(warehouse, { connectionId, stream: 'bills', pages: [page] });
    expect(facts).toMatchObject({ read: 23, inserted: 21, quarantined: 2 });
    const entries = await entriesOf(connectionId);
    expect(entries.map(({ record_id, payload }) => [record_id, payload])).toEqual([
      ['b04', page[4]],
      ['b17', page[17]],
    ]);
    expect(entries[0]?.reason).toMatch(/^Postgres refuses it: ./);
  });

  test('a whole number out of range', async () => {
    const connectionId = await addTestConnection(warehouse);
    const bad = subscription('x', { items: '[{"interval_count":9223372036854775808}]' });
    await land(warehouse, { connectionId, stream: 'subscriptions', pages: [[subscription('s'), bad]] });
    expect(await entriesOf(connectionId)).toMatchObject([{ record_id: 'x', payload: bad }]);
  });
});

test('the last good version stays in finance while a bad one is in quarantine', async () => {
  const connectionId = await addTestConnection(warehouse);
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b', { memo: '"good"' })]] });
  const bad = bill('b', { total_amount: '{}', last_synced_at: '"2024-02-01T00:00:00Z"' });
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bad]] });
  expect(
    await row(warehouse, 'select memo from finance.bills where connection_id = $1', [connectionId]),
  ).toEqual({
    memo: 'good',
  });
});

test('a good version closes the quarantine entry with a reason', async () => {
  const connectionId = await addTestConnection(warehouse);
  const bad = customer('c', { email: '7' });
  await land(warehouse, { connectionId, stream: 'customers', pages: [[bad]] });
  await land(warehouse, { connectionId, stream: 'customers', pages: [[customer('c')]] });
  expect(
    await row(
      warehouse,
      `select status, closed_at is not null as closed, closed_why from sync.quarantine where connection_id = $1`,
      [connectionId],
    ),
  ).toEqual({ status: 'landed', closed: true, closed_why: 'a good version arrived' });
});

test('the held good version closes the quarantine entry when it comes again', async () => {
  const connectionId = await addTestConnection(warehouse);
  for (const record of [customer('c'), customer('c', { email: '7' }), customer('c')]) {
    await land(warehouse, { connectionId, stream: 'customers', pages: [[record]] });
  }
  expect(await entriesOf(connectionId)).toMatchObject([{ status: 'landed' }]);
});

test('a bad record that comes again has one entry, with its latest text', async () => {
  const connectionId = await addTestConnection(warehouse);
  const [first, second] = [customer('c', { email: '7' }), customer('c', { phone: '8' })];
  await land(warehouse, { connectionId, stream: 'customers', pages: [[first, second]] });
  await land(warehouse, { connectionId, stream: 'customers', pages: [[second]] });
  expect(await entriesOf(connectionId)).toMatchObject([
    { record_id: 'c', reason: 'phone is a number, not a text', payload: second, status: 'open' },
  ]);
});

test('a bad record without an ID has one entry however often it comes', async () => {
  const connectionId = await addTestConnection(warehouse);
  await land(warehouse, { connectionId, stream: 'bills', pages: [[withoutId], [withoutId, withoutId]] });
  expect(await entriesOf(connectionId)).toMatchObject([{ record_id: null, payload: withoutId }]);
});

test('a record that is bad again after its entry was closed opens a new entry', async () => {
  const connectionId = await addTestConnection(warehouse);
  const bad = customer('c', { email: '7' });
  for (const record of [bad, customer('c'), bad]) {
    await land(warehouse, { connectionId, stream: 'customers', pages: [[record]] });
  }
  expect((await entriesOf(connectionId)).map(({ status }) => status)).toEqual(['landed', 'open']);
});

test('a stream that left records in quarantine is partial', async () => {
  const connectionId = await addTestConnection(warehouse);
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b'), withoutId]] });
  expect(
    await row(warehouse, 'select status, quarantined from sync.run_streams where connection_id = $1', [
      connectionId,
    ]),
  ).toEqual({ status: 'partial', quarantined: 1 });
});

function entriesOf(connectionId: string): Promise<Row[]> {
  return rows(
    warehouse,
    `select resource, stream, record_id, reason, payload, status
     from sync.quarantine where connection_id = $1 order by id`,
    [connectionId],
  );
}

async function idsOf(connectionId: string): Promise<unknown[]> {
  const held = await rows(warehouse, 'select id from finance.bills where connection_id = $1 order by id', [
    connectionId,
  ]);
  return held.map(({ id }) => id);
}
