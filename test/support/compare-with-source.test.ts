import { expect, test } from 'vitest';
import { land } from './land.ts';
import { compareWithSource } from './compare-with-source.ts';
import { allocation, bill, billLine, item, list, subscription } from './finance-records.ts';
import { addTestConnection } from './test-connection.ts';
import { createTestDatabase } from './test-database.ts';

/** Tests `compareWithSource`, on which the end-to-end tests rely: it must see any damage to the tables. */
const { warehouse, url } = await createTestDatabase();

const source: Record<string, string[]> = {
  bills: [
    bill('b', {
      total_amount: '123456789012345678.10',
      line_items: list(billLine(), billLine({ item: 'null' })),
      linked_payments: list(allocation('p')),
    }),
    bill('bad', { memo: '1' }),
  ],
  items: [item('i')],
  subscriptions: [subscription('s')],
};
test('an exact copy has no differences', async () => {
  expect(await compare(await copy())).toEqual([]);
});

test.each([
  ['update finance.bills set total_amount = total_amount + 0.01', '', /bills b.total_amount is/],
  ['update finance.bills set total_amount = 123456789012345680', '', /bills b.total_amount is/],
  ['update finance.bills set issue_date = issue_date - 1', '', /bills b.issue_date is 2024-01-14/],
  ["update finance.bills set updated_at = updated_at + interval '1 us'", '', /bills b.updated_at/],
  ["update finance.bills set memo = ''", '', /bills b.memo is {2}instead of null/],
  ['delete from finance.bill_lines', 'position = 1', /bill_lines of b: 1 instead of 2/],
  ['update finance.bill_lines set position = position + 10', '', /bill_lines b\[0\] has position 10/],
  ['update finance.bill_lines set item_quantity = 4.0001', 'position = 0', /bill_lines b\[0\].item_quantity/],
  ['update finance.bill_payment_allocations set allocated_amount = null', '', /allocated_amount is null/],
  ['update finance.items set bill_unit_price = 20.49', '', /items i.bill_unit_price/],
  [
    'update finance.subscription_items set interval_count = 2',
    '',
    /subscription_items s\[0\].interval_count/,
  ],
  ['delete from finance.items', '', /items i is missing/],
  ["update finance.items set id = 'j'", '', /items j is not in the source/],
  ['delete from sync.quarantine', '', /bills: not in quarantine/],
  ["update sync.quarantine set payload = replace(payload, 'USD', 'EUR')", '', /in quarantine without need/],
])('the comparison notices the damage: %s … %s', async (damage, where, difference) => {
  const connection = await copy();
  const condition = where === '' ? '' : `and ${where}`;
  await warehouse.pool.query(`${damage} where connection_id = $1 ${condition}`, [connection]);
  expect((await compare(connection)).join('\n')).toMatch(difference);
});

/** Lands the source as a connection of its own. */
async function copy(): Promise<string> {
  const connectionId = await addTestConnection(warehouse);
  for (const [stream, records] of Object.entries(source))
    await land(warehouse, { connectionId, stream, pages: [records] });
  return connectionId;
}

async function compare(connectionId: string): Promise<readonly string[]> {
  const admin = { content: (_: string, resource: string) => Promise.resolve(source[resource] ?? []) };
  return (await compareWithSource({ databaseUrl: url, admin, connectionId })).differences;
}
