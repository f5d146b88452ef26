import { beforeAll, expect, test } from 'vitest';
import { land } from './land.ts';
import { compareWithSource } from './compare-with-source.ts';
import { allocation, bill, billLine, item, list, subscription } from './finance-records.ts';
import { addTestConnection } from './test-connection.ts';
import { createTestDatabase } from './test-database.ts';

/** The judge of the end-to-end tests is itself on trial here: whatever is damaged in the tables, it must see. */
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
let connection = '';

beforeAll(async () => {
  connection = await addTestConnection(warehouse);
  for (const [stream, records] of Object.entries(source))
    await land(warehouse, { connectionId: connection, stream, pages: [records] });
});

const compare = async (): Promise<readonly string[]> => {
  const admin = { content: (_: string, resource: string) => Promise.resolve(source[resource] ?? []) };
  const comparison = await compareWithSource({ databaseUrl: url, admin, connectionId: connection });
  return comparison.differences;
};

test('an exact copy has no differences', async () => {
  expect(await compare()).toEqual([]);
});

test.each([
  ['update finance.bills set total_amount = total_amount + 0.01', /bills b.total_amount is/],
  ['update finance.bills set total_amount = 123456789012345680', /bills b.total_amount is/],
  [`update finance.bills set issue_date = issue_date - 1`, /bills b.issue_date is 2024-01-14/],
  [`update finance.bills set updated_at = updated_at + interval '1 microsecond'`, /bills b.updated_at/],
  [`update finance.bills set memo = ''`, /bills b.memo is  instead of null/],
  ['delete from finance.bill_lines where position = 1', /bill_lines of b: 1 instead of 2/],
  ['update finance.bill_lines set position = position + 1', /bill_lines b\[0\] has position 1/],
  [
    'update finance.bill_lines set item_quantity = 4.0001 where position = 0',
    /bill_lines b\[0\].item_quantity/,
  ],
  ['update finance.bill_payment_allocations set allocated_amount = null', /allocated_amount is null/],
  ['update finance.items set bill_unit_price = 20.49', /items i.bill_unit_price/],
  ['update finance.subscription_items set interval_count = 2', /subscription_items s\[0\].interval_count/],
  ['delete from finance.items', /items i is missing/],
  [`update finance.items set id = 'j'`, /items j is not in the source/],
  ['delete from sync.quarantine', /bills: not in quarantine/],
  [`update sync.quarantine set payload = replace(payload, 'USD', 'EUR')`, /in quarantine without need/],
])('%s is seen', async (damage, difference) => {
  const { rows } = await warehouse.pool.query<{ before: string }>(
    `select string_agg(format('%I.%I', schemaname, tablename), ',') as before from pg_tables
     where schemaname = 'finance' or tablename = 'quarantine'`,
  );
  await backUp(rows[0]?.before.split(',') ?? [], async () => {
    await warehouse.pool.query(damage);
    expect((await compare()).join('\n')).toMatch(difference);
  });
  expect(await compare()).toEqual([]);
});

/** Puts the tables back as they were after `work`. */
async function backUp(tables: readonly string[], work: () => Promise<void>): Promise<void> {
  const client = await warehouse.pool.connect();
  try {
    for (const [number, table] of tables.entries())
      await client.query(`create temporary table kept_${number} as table ${table}`);
    await work();
    for (const [number, table] of tables.entries()) {
      await client.query(`truncate ${table}`);
      await client.query(`insert into ${table} overriding system value table kept_${number}`);
      await client.query(`drop table kept_${number}`);
    }
  } finally {
    client.release();
  }
}
