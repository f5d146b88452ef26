import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { resourceNamed } from '../../resources/index.ts';
import { sourceRecord } from '../../resources/source-record.ts';
import { landFetched } from '../../warehouse/landing/land-fetched.ts';
import { allocation, bill, billCreditMemo, billLine, customer, list } from '../support/finance-records.ts';
import { land, landRecords, openPass } from '../support/land.ts';
import { overSessions } from '../support/over-sessions.ts';
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
])('lines that become %s are deleted', async (_, lineItems) => {
  const connectionId = await addTestConnection(warehouse);
  const pages = [[bill('b')], [bill('b', { line_items: lineItems })]];
  await land(warehouse, { connectionId, stream: 'bills', pages });
  expect(
    await rows(warehouse, 'select from finance.bill_lines where connection_id = $1', [connectionId]),
  ).toEqual([]);
});

test('lines of other records and other connections stay', async () => {
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

test('orphaned lines block neither the next version of their record nor a page with an invalid record', async () => {
  const connectionId = await withOrphans();
  const pages = [[bill('orphaned'), bill('bad', { memo: String.raw`"\ud800"` })]];
  const [facts] = await land(warehouse, { connectionId, stream: 'bills', pages });
  expect(facts).toMatchObject({ inserted: 1, quarantined: 1 });
  expect(await linesOf(connectionId)).toEqual(['orphaned']);
});

test('a record that lands while orphaned lines are removed keeps its own lines', async () => {
  const connectionId = await withOrphans();
  const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
  const fetched = { record: sourceRecord(bill('fetched')), token: null, servedAt: null };
  let landing: Promise<unknown> | undefined;
  const beside = overSessions(warehouse, (client) => ({
    async query(...asked: [string]) {
      const [statement] = asked as unknown[];
      if (typeof statement === 'object' && statement !== null && 'name' in statement) {
        if (statement.name === 'remove bill_lines' && landing === undefined) {
          landing = landFetched(warehouse, { ...pass, resource: resourceNamed('bills'), ...fetched });
          await Promise.race([landing, sleep(1_000)]);
        }
      }
      return client.query(...asked);
    },
  }));
  await landRecords(beside, { pass, records: [bill('orphaned'), bill('fetched')] });
  expect(landing).toBeDefined();
  await landing;
  expect(await linesOf(connectionId)).toEqual(['fetched', 'orphaned']);
});

/** A connection in which somebody deleted a bill and all that is known of it, except its line. */
async function withOrphans(): Promise<string> {
  const connectionId = await addTestConnection(warehouse);
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('orphaned')]] });
  for (const table of ['finance.bills', 'history.record_versions'])
    await warehouse.pool.query(`delete from ${table} where connection_id = $1`, [connectionId]);
  return connectionId;
}

async function linesOf(connectionId: string): Promise<unknown[]> {
  const lines = await rows(
    warehouse,
    'select bill_id from finance.bill_lines where connection_id = $1 order by bill_id',
    [connectionId],
  );
  return lines.map(({ bill_id }) => bill_id);
}

test('every list of a record lands in its own table', async () => {
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
