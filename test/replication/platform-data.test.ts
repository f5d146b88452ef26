import { expect, test } from 'vitest';
import { bill } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { at } from './scripted-service.ts';
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
