import { expect, test } from 'vitest';
import { bill } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { at } from '../replication/scripted-service.ts';
import { servicesOf } from '../replication/serve.ts';

const { warehouse } = await createTestDatabase();
const serve = servicesOf(warehouse);

test('amounts whose sum Postgres cannot hold wait in quarantine, and keep no reconcile from its end', async () => {
  const service = await serve();
  const huge = '9'.repeat(131_072);
  service.lists = { bills: [bill('a'), ...['b', 'c'].map((id) => bill(id, { total_amount: huge }))] };
  expect(await service.sync(['bills'])).toMatchObject({
    status: 'partial',
    streams: [{ quarantined: 2 }, {}],
  });
  expect(await service.ids('bills')).toEqual(['a']);
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'partial' });
});

test('nor do those that an earlier release has landed', async () => {
  const service = await serve();
  const huge = '9'.repeat(131_072);
  service.lists = { bills: ['a', 'b', 'c'].map((id) => bill(id)) };
  await service.sync(['bills']);
  await warehouse.pool.query(
    `update finance.bills set total_amount = $2::numeric where connection_id = $1 and id <> 'a'`,
    [service.connection, huge],
  );
  service.lists.bills = [
    bill('a'),
    ...['b', 'c'].map((id) => bill(id, { total_amount: huge, last_synced_at: at() })),
  ];
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'partial' });
  expect(service.failures).toEqual([]);
});
