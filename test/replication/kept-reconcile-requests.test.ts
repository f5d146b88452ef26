import { expect, test } from 'vitest';
import { addConnection } from '../../warehouse/connections/add-connection.ts';
import { removeConnection } from '../../warehouse/connections/remove-connection.ts';
import { secretKey } from '../simulation/create-dependencies.ts';
import { bill } from '../support/finance-records.ts';
import { buildDeletionEvent } from '../support/land-events.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createServiceStarter } from './serve.ts';

const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);

test('a requested reconcile survives removing the connection with data kept and re-adding it', async () => {
  const service = await serve();
  const second = Math.floor(Date.now() / 1_000) * 1_000 - 60_000;
  service.lists = {
    bills: [bill('a', { last_synced_at: `"${new Date(second + 300).toISOString()}"` }), bill('b')],
  };
  await service.sync(['bills']);
  service.lists.bills = [bill('b')];
  service.events = [buildDeletionEvent('a', new Date(second).toISOString().replace('.000', ''))];
  await service.sync(['bills']);
  expect(await service.isReconcileWanted('bills')).toBe(true);
  await removeConnection(warehouse, { connectionId: service.connection, keepData: true });
  const { connection: connectionId, url: apiAddress } = service;
  await addConnection(warehouse, secretKey, {
    connectionId,
    apiAddress,
    token: `token-${connectionId}`,
    expandPlatformData: false,
  });
  expect((await service.sync(['bills'])).status).toBe('succeeded');
  expect(await service.isReconcileWanted('bills')).toBe(true);
  expect((await service.reconcile(['bills'])).status).toBe('succeeded');
  expect(await service.ids('bills')).toEqual(['b']);
});

test.each(['{}', '{"id":5}', 'null'])(
  'a deletion webhook that does not identify its record (%s) requests a reconcile',
  async (record) => {
    const service = await serve();
    service.lists = { bills: [bill('a'), bill('5')] };
    await service.sync(['bills']);
    service.lists.bills = [bill('a')];
    await service.deliverWebhook('DELETED', record);
    expect(await service.isReconcileWanted('bills')).toBe(true);
    expect(await service.reconcile(['bills'])).toMatchObject({ status: 'succeeded' });
    expect(await service.ids('bills')).toEqual(['a']);
  },
);

test('a deletion webhook whose record the service refuses to return requests a reconcile', async () => {
  const service = await serve();
  service.lists = { bills: [bill('a'), bill('b')] };
  await service.sync(['bills']);
  service.lists.bills = [bill('a')];
  service.onFetch = () => ({ status: 403, body: '{}' });
  await service.deliverWebhook('DELETED', bill('b'));
  expect(await service.isReconcileWanted('bills')).toBe(true);
});
