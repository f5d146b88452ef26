import { expect, test } from 'vitest';
import { bill, expense } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { at, page, type ScriptedService } from './scripted-service.ts';
import { servicesOf } from './serve.ts';

const { warehouse } = await createTestDatabase();
const serve = servicesOf(warehouse);

test.fails('a wish that a reconcile could not answer stays', async () => {
  const service = await serve();
  const second = Math.floor(Date.now() / 1_000 - 30) * 1_000;
  const touched = JSON.stringify(new Date(second + 200).toISOString());
  service.lists = { bills: [bill('kept'), bill('other'), bill('x', { last_synced_at: touched })] };
  await service.sync(['bills']);
  service.lists = { bills: [bill('kept'), bill('other')] };
  const when = JSON.stringify(new Date(second).toISOString());
  service.events = [
    `{"id":"e","resource":"BILL","type":"object_deleted","last_synced_at":${when},"data":{"id":"x","deleted_at":${when}}}`,
  ];
  await service.sync(['bills']);
  expect(await isWanted(service)).toBe(true);
  service.onFetch = (_resource, id) => (id === 'x' ? { status: 500, body: '{}' } : undefined);
  expect(await service.reconcile(['bills'])).toMatchObject({ status: 'partial' });
  service.onFetch = () => undefined;
  expect(await service.sync(['bills'])).toMatchObject({ status: 'succeeded' });
  expect((await service.ids('bills')).length === 2 || (await isWanted(service))).toBe(true);
});

test.fails(
  'a list that does not come in the order that was asked for, and whose cursor grows old, loses nothing',
  async () => {
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
      if (query.get('cursor') === null)
        return isLater ? page(service, resource, shown) : page(service, resource, shown.slice(0, 2), 'next');
      return isLater ? { status: 400, body: '{"error_code":"INVALID_CURSOR"}' } : { status: 503, body: '' };
    };
    await service.sync(['bills']);
    isLater = true;
    expect(await service.sync(['bills'])).toMatchObject({ status: 'succeeded' });
    expect(await service.ids('bills')).toEqual(['b0', 'b1', 'b2', 'b3']);
  },
);

test.fails('where no refunds are offered, a reconcile compares the expenses', async () => {
  const service = await serve();
  service.onList = (_resource, query) =>
    query.get('expense_type') === 'refund' ? { status: 404, body: '{}' } : undefined;
  service.lists = { expenses: [expense('a'), expense('b')] };
  await service.sync(['expenses']);
  service.lists = { expenses: [expense('a')] };
  expect(await service.reconcile(['expenses'])).toMatchObject({ status: 'succeeded' });
  expect(await service.ids('expenses')).toEqual(['a']);
});

async function isWanted(service: ScriptedService): Promise<boolean> {
  const found = await service.rows(
    'select from sync.streams where connection_id = $1 and reconcile_wanted_at is not null',
  );
  return found.length > 0;
}
