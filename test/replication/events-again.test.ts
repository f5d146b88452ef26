import { describe, expect, test } from 'vitest';
import { bill } from '../support/finance-records.ts';
import { buildDeletionEvent } from '../support/land-events.ts';
import { createTestDatabase } from '../support/test-database.ts';
import type { ScriptedService } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';

const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);

const hour = 3_600_000;

describe('an overruled deletion event does not delete the record that a reconcile found alive', () => {
  test('when the service clock was ahead at the deletion and was corrected before the re-creation', async () => {
    const service = await serveRecreated();
    for (let times = 0; times < 2; times += 1) {
      expect((await service.sync(['bills'])).status).toBe('succeeded');
      expect(await service.ids('bills')).toEqual(['a', 'b']);
    }
    expect(await service.rows('select id from finance.deleted_records where connection_id = $1')).toEqual([]);
  });

  test('when the event is newer than the record and is the last event', async () => {
    const service = await serve();
    service.lists = { bills: [bill('a'), bill('b')] };
    service.events = [buildDeletionEvent('a', '2026-01-01T00:00:00Z')];
    await service.sync(['bills']);
    expect(await service.ids('bills')).toEqual(['b']);
    expect((await service.reconcile(['bills'])).status).toBe('succeeded');
    await service.sync(['bills']);
    expect(await service.ids('bills')).toEqual(['a', 'b']);
  });

  test('but a newer event deletes it', async () => {
    const service = await serveRecreated();
    service.lists.bills = [bill('b')];
    service.events.push(buildDeletionEvent('a', formatTime(Date.now() + 3 * hour)));
    await service.sync(['bills']);
    expect(await service.ids('bills')).toEqual(['b']);
  });

  test('but a different event that is not newer requests one reconcile, which decides', async () => {
    const service = await serveRecreated();
    service.events.push(buildDeletionEvent('a', formatTime(Date.now() + hour)));
    await service.sync(['bills']);
    expect(await service.ids('bills')).toEqual(['a', 'b']);
    expect(await service.isReconcileWanted('bills')).toBe(true);
    await service.reconcile(['bills']);
    await service.sync(['bills']);
    expect(await service.isReconcileWanted('bills')).toBe(false);
    service.lists.bills = [bill('b')];
    await service.reconcile(['bills']);
    expect(await service.ids('bills')).toEqual(['b']);
  });
});

/** A live record whose deletion was announced two hours ahead of the service's time. */
async function serveRecreated(): Promise<ScriptedService> {
  const service = await serve();
  service.lists = { bills: [bill('a', { last_synced_at: `"${formatTime(Date.now() - hour)}"` }), bill('b')] };
  await service.sync(['bills']);
  service.date = () => new Date(Date.now() + 2 * hour);
  service.lists.bills = [bill('b')];
  service.events = [buildDeletionEvent('a', formatTime(Date.now() + 2 * hour))];
  await service.sync(['bills']);
  expect(await service.ids('bills')).toEqual(['b']);
  service.date = () => new Date();
  service.lists.bills = [bill('b'), bill('a', { last_synced_at: `"${formatTime(Date.now())}"` })];
  expect((await service.reconcile(['bills'])).status).toBe('succeeded');
  expect(await service.ids('bills')).toEqual(['a', 'b']);
  return service;
}

function formatTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString();
}
