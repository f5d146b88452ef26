import { expect, test } from 'vitest';
import { customer, subscription } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { answerLater, at, type ScriptedService } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';

const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);
const ahead = 2 * 3_600_000;

test('a page in flight does not restore a subscription deleted by a reconcile, even if the platform clock is ahead', async () => {
  const service = await serve();
  const kept = subscription('kept', { updated_at: at(ahead - 3_600_000) });
  await holdTwo(service, kept);
  const { asked, answer } = answerLater(service, [kept, edited(ahead - 30_000)]);
  const running = service.sync(['subscriptions']);
  await asked;
  service.lists.subscriptions = [kept];
  const reconciled = await service.reconcile(['subscriptions']);
  expect([reconciled.status, await service.ids('subscriptions')]).toEqual(['succeeded', ['kept']]);
  answer();
  await running;
  await service.sync(['subscriptions']);
  expect(await service.ids('subscriptions')).toEqual(['kept']);
});

test('a subscription re-created after its deletion was found is restored', async () => {
  const service = await serve();
  const kept = subscription('kept', { updated_at: at(-3_600_000) });
  await holdTwo(service, kept);
  service.lists.subscriptions = [kept];
  await service.reconcile(['subscriptions']);
  await new Promise((resolve) => setTimeout(resolve, 1_100));
  service.lists.subscriptions = [kept, edited(0)];
  await service.sync(['subscriptions']);
  expect(await service.ids('subscriptions')).toEqual(['kept', 'x']);
});

async function holdTwo(service: ScriptedService, kept: string): Promise<void> {
  service.lists = { subscriptions: [kept, edited(-86_400_000)], customers: [customer('c')] };
  await service.sync(['subscriptions', 'customers']);
}

function edited(milliseconds: number): string {
  return subscription('x', { updated_at: at(milliseconds) });
}
