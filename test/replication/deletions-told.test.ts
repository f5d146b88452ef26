import { expect, test } from 'vitest';
import { bill } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { at } from './scripted-service.ts';
import { servicesOf } from './serve.ts';

const { warehouse } = await createTestDatabase();
const serve = servicesOf(warehouse);

const wanted = 'select stream from sync.streams where connection_id = $1 and reconcile_wanted_at is not null';

test('a deletion whose event tells whole seconds asks once for a reconcile, where the record was touched in that second', async () => {
  const service = await serve();
  const second = Math.floor(Date.now() / 1_000 - 30) * 1_000;
  const touched = JSON.stringify(new Date(second + 200).toISOString());
  service.lists = { bills: [bill('kept'), bill('x', { last_synced_at: touched })] };
  await service.sync(['bills']);
  service.lists = { bills: [bill('kept')] };
  service.events = [deletionOf('x', JSON.stringify(new Date(second).toISOString().replace('.000Z', 'Z')))];
  await service.sync(['bills']);
  expect(await service.rows(wanted)).toEqual([{ stream: 'bills' }]);
  await service.reconcile(['bills']);
  expect(await service.ids('bills')).toEqual(['kept']);
  // The lookback reads the event again.
  await service.sync(['bills']);
  expect(await service.rows(wanted)).toEqual([]);
});

test('a deletion in the second of a version that was there before it is believed', async () => {
  const service = await serve();
  service.lists = { bills: [bill('kept'), bill('x', { last_synced_at: at(-60_000) })] };
  await service.sync(['bills']);
  service.lists = { bills: [bill('kept')] };
  service.events = [deletionOf('x', at(-59_000))];
  await service.sync(['bills']);
  expect([await service.ids('bills'), await service.rows(wanted)]).toEqual([['kept'], []]);
});

function deletionOf(id: string, when: string): string {
  return `{"id":"e-${id}","resource":"BILL","type":"object_deleted","last_synced_at":${when},"data":{"id":"${id}","deleted_at":${when}}}`;
}
