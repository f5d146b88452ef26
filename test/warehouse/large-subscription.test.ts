import { expect, test } from 'vitest';
import { subscription } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

test('a subscription with 20,000 items is read quickly, each item with the fields of its subscription', async () => {
  const connectionId = await addTestConnection(warehouse);
  const item = { interval: 'month', interval_count: 1, quantity: 1, amount: 2, unit_amount: 2 };
  const items = JSON.stringify(Array.from({ length: 20_000 }, () => item));
  const fields = { items, status: '"active"', platform_customer_id: '"c"', iso_currency_code: '"EUR"' };
  await land(warehouse, { connectionId, stream: 'subscriptions', pages: [[subscription('s', fields)]] });
  const client = await warehouse.pool.connect();
  try {
    // Reading the whole document three times for each item took minutes.
    await client.query(`set statement_timeout = '10s'`);
    const { rows } = await client.query(
      `select count(*)::int as items, sum(amount)::int as amount, max(position)::int as last, min(status) as status,
         max(platform_customer_id) as customer, max(iso_currency_code) as currency
       from history.subscription_item_versions`,
    );
    expect(rows).toEqual([
      { items: 20_000, amount: 40_000, last: 19_999, status: 'active', customer: 'c', currency: 'EUR' },
    ]);
  } finally {
    await client.query('reset statement_timeout');
    client.release();
  }
});
