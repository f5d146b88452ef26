import { describe, expect, test } from 'vitest';
import { bill } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { rebuildBills } from './as-commands.ts';
import { at, type ScriptedService } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';

const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);

// A bill is open, then paid. Somebody restores the open row from a backup; history has both.
describe('a bill whose row was restored from a backup, and whose source returns to the restored state,', () => {
  test('is landed by a sync after a rebuild', async () => {
    const service = await restored();
    await rebuildBills(warehouse, service);
    expect(await readStatus(service)).toEqual([{ status: 'paid' }]);
    reopen(service);
    expect(await service.sync(['bills'])).toMatchObject({ status: 'succeeded' });
    expect(await readStatus(service)).toEqual([{ status: 'open' }]);
    expect(await readVersions(service)).toEqual(['open', 'paid', 'open']);
  });

  test.each(['sync', 'reconcile'] as const)(
    'has its reopening in history after a %s, and survives a rebuild',
    async (run) => {
      const service = await restored();
      reopen(service);
      await service[run](['bills']);
      expect(await readVersions(service)).toEqual(['open', 'paid', 'open']);
      await rebuildBills(warehouse, service);
      expect(await readStatus(service)).toEqual([{ status: 'open' }]);
    },
  );
});

test('a row that does not match its hash becomes a version in history once it is repaired', async () => {
  const service = await restored();
  // As an earlier release left it: the row of the latest content, with the hash of the previous one.
  await service.rows(
    `update finance.bills set status = 'paid', _changed_at = (select max(recorded_at) from history.record_versions where connection_id = $1)
     where connection_id = $1`,
  );
  reopen(service);
  await service.reconcile(['bills']);
  expect(await readStatus(service)).toEqual([{ status: 'open' }]);
  expect(await readVersions(service)).toEqual(['open', 'paid', 'open']);
});

async function restored(): Promise<ScriptedService> {
  const service = await serve();
  service.lists = { bills: [bill('a', { last_synced_at: at(-5_400_000), status: '"open"' })] };
  await service.sync(['bills']);
  await warehouse.pool.query('drop table if exists public.yesterday');
  await warehouse.pool.query(
    `create table public.yesterday as select * from finance.bills where connection_id = '${service.connection}'`,
  );
  service.lists.bills = [bill('a', { last_synced_at: at(-60_000), status: '"paid"' })];
  await service.sync(['bills']);
  await service.rows('delete from finance.bills where connection_id = $1');
  await warehouse.pool.query('insert into finance.bills select * from public.yesterday');
  return service;
}

function reopen(service: ScriptedService): void {
  service.lists.bills = [bill('a', { last_synced_at: at(-1_000), status: '"open"' })];
}

function readStatus(service: ScriptedService): Promise<Record<string, unknown>[]> {
  return service.rows('select status from finance.bills where connection_id = $1');
}

async function readVersions(service: ScriptedService): Promise<unknown[]> {
  const versions = await service.rows(
    `select payload ->> 'status' as status from history.record_versions where connection_id = $1 order by recorded_at`,
  );
  return versions.map(({ status }) => status);
}
