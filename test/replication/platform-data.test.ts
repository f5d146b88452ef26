import { expect, test } from 'vitest';
import { bill } from '../support/finance-records.ts';
import { buildDeletionEvent } from '../support/land-events.ts';
import type { Row } from '../support/rows.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { replayOne } from './as-commands.ts';
import { at, type ScriptedService } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';

const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);

test.each(['null', undefined])(
  'a fetch whose platform_data is %s keeps the platform_data from the list',
  async (fetched) => {
    const service = await serve();
    await service.rows('update sync.connections set expand_platform_data = true where connection_id = $1');
    const version = { last_synced_at: at(-3_600_000) };
    service.lists = {
      bills: [bill('a', { ...version, platform_data: '{"k":1}' }), bill('b', { last_synced_at: at() })],
    };
    await service.sync(['bills']);
    const asFetched = bill('a', { ...version, platform_data: fetched });
    service.onFetch = () => ({
      status: 200,
      body: `{"connection":${service.connectionJson},"bill":${asFetched}}`,
    });
    await service.deliverWebhook('UPDATED', asFetched);
    // The list no longer shows it, because it is older than the lookback.
    expect(await service.sync(['bills'])).toMatchObject({ status: 'succeeded' });
    expect(
      await service.rows(`select platform_data from finance.bills where connection_id = $1 and id = 'a'`),
    ).toEqual([{ platform_data: { k: 1 } }]);
  },
);

test('a record that a reconcile revives keeps the platform_data of its history, and the next listing proves it', async () => {
  const service = await serve();
  await service.rows('update sync.connections set expand_platform_data = true where connection_id = $1');
  const a = bill('a', { last_synced_at: at(-3_600_000), platform_data: '{"k":1}' });
  service.lists = { bills: [a, bill('b')] };
  await service.sync(['bills']);
  // The server that announced it was ahead: its deletion has a version that beats what the service lists.
  service.events = [buildDeletionEvent('a', new Date(Date.now() - 60_000).toISOString())];
  service.lists.bills = [bill('b')];
  await service.sync(['bills']);
  expect(await service.ids('bills')).toEqual(['b']);
  service.lists.bills = [a, bill('b')];
  service.onFetch = (_resource, id) =>
    id === 'a'
      ? {
          status: 200,
          body: `{"connection":${service.connectionJson},"bill":${bill('a', { last_synced_at: at(-3_600_000) })}}`,
        }
      : undefined;
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'partial' });
  expect(await readPlatformData(service)).toEqual([{ platform_data: { k: 1 } }]);
  expect(await service.isReconcileWanted('bills')).toBe(true);
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'succeeded' });
  expect(await service.isReconcileWanted('bills')).toBe(false);
});

test('a record held under the version of a wrong clock gets the platform_data of the right one by the next listing', async () => {
  const service = await serve();
  await service.rows('update sync.connections set expand_platform_data = true where connection_id = $1');
  service.lists = {
    bills: [bill('a', { last_synced_at: at(-60_000), platform_data: '{"k":1}' }), bill('b')],
  };
  await service.sync(['bills']);
  const corrected = { last_synced_at: at(-3_600_000), memo: '"corrected"' };
  service.lists.bills = [bill('a', { ...corrected, platform_data: '{"k":2}' }), bill('b')];
  service.onFetch = (_resource, id) =>
    id === 'a'
      ? { status: 200, body: `{"connection":${service.connectionJson},"bill":${bill('a', corrected)}}` }
      : undefined;
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'partial' });
  expect(await service.isReconcileWanted('bills')).toBe(true);
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'succeeded' });
  expect(await readPlatformData(service)).toEqual([{ platform_data: { k: 2 } }]);
});

test('a record that is replayed from quarantine by a fetch gets its platform_data by the next listing', async () => {
  const service = await serve();
  await service.rows('update sync.connections set expand_platform_data = true where connection_id = $1');
  const version = { last_synced_at: at(-3_600_000), platform_data: '{"k":1}' };
  service.lists = { bills: [bill('a', { ...version, total_amount: '"much"' }), bill('b')] };
  await service.sync(['bills']);
  expect(await service.isReconcileWanted('bills')).toBe(false);
  service.lists.bills = [bill('a', version), bill('b')];
  const fetched = bill('a', { last_synced_at: version.last_synced_at });
  service.onFetch = () => ({
    status: 200,
    body: `{"connection":${service.connectionJson},"bill":${fetched}}`,
  });
  await replayOne(warehouse, service);
  expect(await readPlatformData(service)).toEqual([{ platform_data: null }]);
  expect(await service.isReconcileWanted('bills')).toBe(true);
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'succeeded' });
  expect(await readPlatformData(service)).toEqual([{ platform_data: { k: 1 } }]);
});

function readPlatformData(service: ScriptedService): Promise<Row[]> {
  return service.rows(`select platform_data from finance.bills where connection_id = $1 and id = 'a'`);
}
