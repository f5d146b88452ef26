import { expect, test } from 'vitest';
import { allocation, bill, billCreditMemo, billLine, customer, list } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

test.each([
  ['fewer', ['a', 'b', 'c'], ['b']],
  ['more', ['a'], ['a', 'b', 'c']],
  ['reordered', ['a', 'b'], ['b', 'a']],
  ['none', ['a', 'b'], []],
  ['the first', [], ['a', 'b']],
])('the lines of a bill are replaced as a set: %s', async (_, before, after) => {
  const connectionId = await addTestConnection(warehouse);
  const landLines = (descriptions: readonly string[]): Promise<unknown> => {
    const lines = descriptions.map((description) => billLine({ description: `"${description}"` }));
    const record = bill('b', { line_items: list(...lines) });
    return land(warehouse, { connectionId, stream: 'bills', pages: [[record]] });
  };
  await landLines(before);
  await landLines(after);
  expect(
    await rows(
      warehouse,
      'select position, description from finance.bill_lines where connection_id = $1 order by position',
      [connectionId],
    ),
  ).toEqual(after.map((description, position) => ({ position, description })));
});

test.each([
  ['null', 'null'],
  ['left out', undefined],
])('lines that become %s leave none behind', async (_, lineItems) => {
  const connectionId = await addTestConnection(warehouse);
  const pages = [[bill('b')], [bill('b', { line_items: lineItems })]];
  await land(warehouse, { connectionId, stream: 'bills', pages });
  expect(
    await rows(warehouse, 'select from finance.bill_lines where connection_id = $1', [connectionId]),
  ).toEqual([]);
});

test('the lines of other records and other connections stay', async () => {
  const [one, two] = [await addTestConnection(warehouse), await addTestConnection(warehouse)];
  const pages = [[bill('a'), bill('b')], [bill('b', { line_items: '[]' })]];
  await land(warehouse, { connectionId: one, stream: 'bills', pages });
  await land(warehouse, { connectionId: two, stream: 'bills', pages: [[bill('b')]] });
  await land(warehouse, { connectionId: one, stream: 'bills', pages: [[bill('b', { line_items: 'null' })]] });
  expect(
    await rows(
      warehouse,
      'select connection_id, bill_id from finance.bill_lines where connection_id = any($1) order by bill_id',
      [[one, two]],
    ),
  ).toEqual([
    { connection_id: one, bill_id: 'a' },
    { connection_id: two, bill_id: 'b' },
  ]);
});

test('every list of a record becomes the rows of its own table', async () => {
  const connectionId = await addTestConnection(warehouse);
  const record = bill('b', {
    linked_payments: list(allocation('payment', { allocated_amount: '10.10' })),
    linked_credit_memos: list(allocation('memo', { allocated_amount: 'null', allocated_date: '""' })),
    linked_purchase_orders: '[{"id":"order-1"},{"id":"order-2"}]',
  });
  await land(warehouse, { connectionId, stream: 'bills', pages: [[record]] });
  expect(
    await rows(
      warehouse,
      `select 'payment' as list, position, linked_id, allocated_date, allocated_amount
       from finance.bill_payment_allocations where connection_id = $1
       union all
       select 'credit', position, linked_id, allocated_date, allocated_amount
       from finance.bill_credit_allocations where connection_id = $1
       union all
       select 'order', position, linked_id, null, null
       from finance.bill_purchase_orders where connection_id = $1
       order by 1 desc, 2`,
      [connectionId],
    ),
  ).toEqual([
    {
      list: 'payment',
      position: 0,
      linked_id: 'payment',
      allocated_date: '2024-01-20',
      allocated_amount: '10.10',
    },
    { list: 'order', position: 0, linked_id: 'order-1', allocated_date: null, allocated_amount: null },
    { list: 'order', position: 1, linked_id: 'order-2', allocated_date: null, allocated_amount: null },
    { list: 'credit', position: 0, linked_id: 'memo', allocated_date: null, allocated_amount: null },
  ]);
});

test('the lists of credit memos and customers land too', async () => {
  const connectionId = await addTestConnection(warehouse);
  await land(warehouse, { connectionId, stream: 'bill_credit_memos', pages: [[billCreditMemo('m')]] });
  await land(warehouse, { connectionId, stream: 'customers', pages: [[customer('c')]] });
  expect(
    await rows(
      warehouse,
      `select linked_id, total_amount, item_quantity, city
       from finance.bill_credit_memo_allocations a
       join finance.bill_credit_memo_lines l using (connection_id, bill_credit_memo_id)
       join finance.customer_addresses c using (connection_id)
       where connection_id = $1`,
      [connectionId],
    ),
  ).toEqual([{ linked_id: 'bill-1', total_amount: '110.25', item_quantity: '4', city: 'Leeds' }]);
});
