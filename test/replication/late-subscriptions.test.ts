import { expect, test } from 'vitest';
import { customer, subscription } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { at } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';

const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);
const statuses = 'select id, status from finance.subscriptions where connection_id = $1 order by id';

test('a subscription edit that the service copies late, after a newer edit of another, is read', async () => {
  const service = await serve();
  service.lists = { subscriptions: [edited('a', 600), edited('b', 600)], customers: [customer('c')] };
  await service.sync(['subscriptions', 'customers']);
  // The platform reports a's edit at once. The cancellation of b 40 minutes ago comes when the service looks again.
  service.lists.subscriptions = [edited('a', 5, 'paused'), edited('b', 600)];
  await service.sync(['subscriptions', 'customers']);
  service.lists.subscriptions = [edited('a', 5, 'paused'), edited('b', 40, 'canceled')];
  service.requests = [];
  const { status } = await service.sync(['subscriptions']);
  expect([status, await service.rows(statuses)]).toEqual([
    'succeeded',
    [
      { id: 'a', status: 'paused' },
      { id: 'b', status: 'canceled' },
    ],
  ]);
  expect(service.requests.filter((path) => path.startsWith('/subscriptions')).length).toBe(1);
});

test('a subscription dated in the future hides no edits from a platform whose clock is behind', async () => {
  const service = await serve();
  const future = edited('future', -1_440);
  service.lists = { subscriptions: [future, edited('b', 600)], customers: [customer('c')] };
  await service.sync(['subscriptions', 'customers']);
  service.lists.subscriptions = [future, edited('b', 120, 'canceled')];
  await service.sync(['subscriptions', 'customers']);
  expect(await service.rows(statuses)).toEqual([
    { id: 'b', status: 'canceled' },
    { id: 'future', status: 'active' },
  ]);
});

function edited(id: string, minutesAgo: number, status = 'active'): string {
  return subscription(id, { updated_at: at(-minutesAgo * 60_000), status: JSON.stringify(status) });
}
