import { expect, test } from 'vitest';
import { expense } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createServiceStarter } from './serve.ts';

const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);

test.fails('a reconcile compares expenses on a platform without refunds', async () => {
  const service = await serve();
  service.onList = (_resource, query) =>
    query.get('expense_type') === 'refund' ? { status: 404, body: '{}' } : undefined;
  service.lists = { expenses: [expense('a'), expense('b')] };
  await service.sync(['expenses']);
  service.lists = { expenses: [expense('a')] };
  expect(await service.reconcile(['expenses'])).toMatchObject({ status: 'succeeded' });
  expect(await service.ids('expenses')).toEqual(['a']);
});
