import { expect, test } from 'vitest';
import { bill } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { at, page } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';

const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);

test.each([1, 2])(
  'a list in another order than requested, whose cursor expires, loses nothing: %s on a page',
  async (pageSize) => {
    const service = await serve();
    const newestFirst = [0, 1, 2, 3].map((days) =>
      bill(`b${days}`, { last_synced_at: at(-days * 86_400_000 - 1_000) }),
    );
    let isLater = false;
    service.onList = (resource, query) => {
      const floor = Number(query.get('last_synced_at_min') ?? -Infinity);
      const shown = newestFirst.filter(
        (text) => Date.parse((JSON.parse(text) as { last_synced_at: string }).last_synced_at) >= floor,
      );
      const from = Number(query.get('cursor') ?? 0);
      if (isLater && from === 0) return page(service, resource, shown);
      if (!isLater && from < 2)
        return page(service, resource, shown.slice(from, from + pageSize), String(from + pageSize));
      return isLater ? { status: 400, body: '{"error_code":"INVALID_CURSOR"}' } : { status: 503, body: '' };
    };
    await service.sync(['bills']);
    isLater = true;
    expect(await service.sync(['bills'])).toMatchObject({ status: 'succeeded' });
    expect(await service.ids('bills')).toEqual(['b0', 'b1', 'b2', 'b3']);
  },
);
