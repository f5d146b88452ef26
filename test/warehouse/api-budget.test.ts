import { randomUUID } from 'node:crypto';
import { afterAll, expect, test } from 'vitest';
import { openApiBudget, type ApiBudget } from '../../warehouse/api-budget.ts';
import { openWarehouse, type Warehouse } from '../../warehouse/open-warehouse.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse, url } = await createTestDatabase();
const other = openWarehouse({ url, connections: 5 });
afterAll(() => other.close());

test('two workers together never send more than the budget in any 10 seconds', async () => {
  const clientId = randomUUID();
  const budgets = [budgetOf(warehouse, clientId, 5), budgetOf(other, clientId, 5)];
  const sent = await Promise.all(
    Array.from({ length: 10 }, async (_, index) => {
      await budgets[index % 2]?.take();
      return performance.now();
    }),
  );
  const times = sent.sort((a, b) => a - b);
  const inAnyWindow = times.map(
    (start) => times.filter((time) => time >= start && time < start + 10_000).length,
  );
  expect(Math.max(...inAnyWindow)).toBe(5);
  // As many as are allowed go at once, and the rest as soon as the window lets them.
  expect((times[4] ?? 0) - (times[0] ?? 0)).toBeLessThan(5_000);
  expect((times[9] ?? 0) - (times[0] ?? 0)).toBeLessThan(20_000);
});

test('when the service asks for silence, nobody of the organisation sends before', async () => {
  const clientId = randomUUID();
  await budgetOf(warehouse, clientId).take();
  const notBefore = new Date(Date.now() + 700);
  await budgetOf(other, clientId).reportRateLimited(notBefore);
  // A shorter silence that is asked for later does not end it.
  await budgetOf(other, clientId).reportRateLimited(new Date());
  await budgetOf(warehouse, clientId).take();
  expect(Date.now()).toBeGreaterThanOrEqual(notBefore.getTime());
});

test('a silence too long to wait for is told instead', async () => {
  const clientId = randomUUID();
  const notBefore = new Date(Date.now() + 60_000);
  await budgetOf(warehouse, clientId).reportRateLimited(notBefore);
  const until = await budgetOf(warehouse, clientId).take();
  expect(Math.abs((until?.getTime() ?? 0) - notBefore.getTime())).toBeLessThan(1_000);
});

test('other organisations have budgets of their own', async () => {
  const blocked = randomUUID();
  await budgetOf(warehouse, blocked).reportRateLimited(new Date(Date.now() + 60_000));
  const started = performance.now();
  await budgetOf(warehouse, randomUUID()).take();
  expect(performance.now() - started).toBeLessThan(5_000);
});

test('who waits for the budget stops waiting when it is told to', async () => {
  const budget = budgetOf(warehouse, randomUUID());
  await budget.reportRateLimited(new Date(Date.now() + 10_000));
  const stop = new AbortController();
  const taking = budget.take(stop.signal);
  stop.abort(new Error('enough'));
  await expect(taking).rejects.toThrow();
  await expect(budget.take(AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough');
});

test('requests that nobody asks about any more are forgotten', async () => {
  const budget = budgetOf(warehouse, randomUUID());
  await budget.take();
  await warehouse.pool.query(`update sync.api_grants set granted_at = granted_at - interval '1 minute'`);
  await budget.take();
  const { rows } = await warehouse.pool.query(
    `select budget from sync.api_grants where granted_at < now() - interval '30 seconds'
     and budget = (select budget from sync.api_grants order by granted_at desc limit 1)`,
  );
  expect(rows).toEqual([]);
});

function budgetOf(of: Warehouse, clientId: string, requestsPer10s = 100): ApiBudget {
  return openApiBudget(of, { apiAddress: 'https://api.example.com', clientId, requestsPer10s });
}
