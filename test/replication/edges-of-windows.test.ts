import { expect, test } from 'vitest';
import { bill } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { page } from './scripted-service.ts';
import { servicesOf } from './serve.ts';

const { warehouse } = await createTestDatabase();
const serve = servicesOf(warehouse);

// The document says of `last_synced_at_min` that it is inclusive, and of `updated_at_min` and `updated_at_max` nothing (4.1).
test.each(['inclusive', 'exclusive'])(
  'a backfill reads what stands on the edges of its windows where these are %s',
  async (kind) => {
    const service = await serve();
    const edges = ['2024-01-01', '2024-01-31', '2024-03-01'];
    const all = edges.map((day) => bill(day, { updated_at: `"${day}T00:00:00.000Z"` }));
    service.lists = { bills: all };
    service.onList = (resource, query) => {
      if (!query.has('updated_at_min')) return undefined;
      const [from, to] = [Number(query.get('updated_at_min')), Number(query.get('updated_at_max'))];
      const shown = all.filter((text) => {
        const at = Date.parse((JSON.parse(text) as { updated_at: string }).updated_at);
        return kind === 'inclusive' ? at >= from && at <= to : at > from && at < to;
      });
      return page(service, resource, shown);
    };
    const days = { from: '2024-01-01', to: '2024-03-02' };
    expect(await service.backfill(['bills'], days)).toMatchObject({ status: 'succeeded' });
    expect(await service.ids('bills')).toEqual(edges);
  },
);
