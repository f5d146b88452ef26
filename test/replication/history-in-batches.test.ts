import { expect, test } from 'vitest';
import { readWebhook } from '../../source/read-webhook.ts';
import { storeWebhooks } from '../../warehouse/webhooks/store-webhooks.ts';
import { customer, subscription } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { at, page, type ScriptedService } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';

const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);
const day = 86_400_000;

test('a batch of history announced during the first read of subscriptions requests a reconcile', async () => {
  const service = await serve();
  const first = subscription('first', { updated_at: at(-600_000) });
  service.lists = { subscriptions: [first], customers: [customer('c')] };
  await service.sync(['customers']);
  service.onList = async (resource) => {
    if (resource !== 'subscriptions') return undefined;
    service.onList = () => undefined;
    service.lists.subscriptions = [first, subscription('history', { updated_at: at(-300 * day) })];
    await deliverInitialUpdate(service);
    return page(service, resource, [first]);
  };
  await service.sync(['subscriptions', 'customers']);
  await service.sync(['subscriptions', 'customers']);
  expect(await service.ids('subscriptions')).toEqual(['first']);
  expect(
    await service.rows(
      'select stream from sync.streams where connection_id = $1 and reconcile_wanted_at is not null',
    ),
  ).toEqual([{ stream: 'subscriptions' }]);
});

async function deliverInitialUpdate(service: ScriptedService): Promise<void> {
  const body = `{"type":"CONNECTION","code":"INITIAL_UPDATE","connection_id":"svc-${service.connection}","access_token":"t"}`;
  const webhook = readWebhook(Buffer.from(body));
  if (webhook === undefined) throw new Error('That is no webhook.');
  await storeWebhooks(warehouse, { apiAddress: service.url, webhooks: [webhook] });
  await service.applyWebhooks();
}
