import { expect, test } from 'vitest';
import { bill } from '../support/finance-records.ts';
import { deletionOf } from '../support/land-events.ts';
import { createTestDatabase } from '../support/test-database.ts';
import type { ScriptedService } from './scripted-service.ts';
import { servicesOf } from './serve.ts';

const { warehouse } = await createTestDatabase();
const serve = servicesOf(warehouse);

// A deletion in whole seconds of a record that was touched in that very second: only a reconcile can decide, and it is asked for once.
test.each([
  ['', false],
  [', also where one was wanted before', true],
])(
  'a reconcile that is wanted while another one lists is still wanted when that has ended%s',
  async (_which, before) => {
    const service = await serve();
    const second = Math.floor(Date.now() / 1_000) * 1_000 - 60_000;
    const touched = { last_synced_at: `"${new Date(second + 300).toISOString()}"` };
    const event = (id: string): string => deletionOf(id, new Date(second).toISOString().replace('.000', ''));
    service.lists = { bills: [bill('b'), bill('c'), bill('x', touched), bill('y', touched)] };
    await service.sync(['bills']);
    service.lists.bills = [bill('b'), bill('c'), bill('y', touched)];
    if (before) {
      service.events = [event('x')];
      await service.sync(['bills']);
      expect(await isWanted(service)).toBe(true);
    }
    service.onFetch = async () => {
      service.onFetch = () => undefined;
      // The reconcile has listed y, and asks for x. Then y is deleted, and announced.
      service.lists.bills = [bill('b'), bill('c')];
      service.events.push(event('y'));
      expect((await service.sync(['bills'])).status).toBe('succeeded');
      expect(await isWanted(service)).toBe(true);
      return undefined;
    };
    expect((await service.reconcile(['bills'])).status).toBe('succeeded');
    await service.sync(['bills']);
    expect(await service.ids('bills')).toEqual(['b', 'c', 'y']);
    expect(await isWanted(service)).toBe(true);
  },
);

async function isWanted(service: ScriptedService): Promise<boolean> {
  const [found] = await service.rows(
    `select reconcile_wanted_at is not null as wanted from sync.streams where connection_id = $1 and stream = 'bills'`,
  );
  return found?.wanted === true;
}

test('an event without an id that comes while a wanted reconcile lists still has its reconcile', async () => {
  const service = await serve();
  service.lists = { bills: [bill('b'), bill('c'), bill('x'), bill('y')] };
  await service.sync(['bills']);
  const nameless = (at: number): string =>
    deletionOf('?', new Date(at).toISOString(), { data: 'null', id: `"event-${at}"` });
  service.lists.bills = [bill('b'), bill('c'), bill('y')];
  service.events = [nameless(Date.now() - 60_000)];
  await service.sync(['bills']);
  expect(await isWanted(service)).toBe(true);
  service.onFetch = async () => {
    service.onFetch = () => undefined;
    service.lists.bills = [bill('b'), bill('c')];
    service.events.push(nameless(Date.now() - 30_000));
    await service.sync(['bills']);
    return undefined;
  };
  await service.reconcile(['bills']);
  const { status } = await service.sync(['bills']);
  const open = await service.rows(
    `select stream, reason from sync.quarantine where connection_id = $1 and status = 'open'`,
  );
  expect(status).toBe('partial');
  expect(open).not.toEqual([]);
  expect(await isWanted(service)).toBe(true);
});
