import { expect, test } from 'vitest';
import { bill, customer } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { at, page, type ScriptedService } from './scripted-service.ts';
import { servicesOf } from './serve.ts';

// A standby takes over that lacks the last commits, and the workflow remembers what they were about.
const { warehouse } = await createTestDatabase();
const serve = servicesOf(warehouse);

test('a sync whose last page is lost with them has not succeeded, and the next one reads it', async () => {
  const service = await withLostPage(
    `select from sync.run_streams where connection_id = $1 and stream = 'bills' and status = 'succeeded'`,
  );
  expect(await service.sync(['bills', 'customers'])).toMatchObject({
    status: 'partial',
    streams: [{ stream: 'bills', status: 'failed', failure_type: 'NotRead' }, {}, {}],
  });
  expect(await service.sync(['bills', 'customers'])).toMatchObject({ status: 'succeeded' });
  expect(await service.ids('bills')).toEqual(['one', 'two']);
});

test('nor has a backfill, and the next one reads it', async () => {
  const service = await withLostPage(
    `select from sync.streams s where connection_id = $1 and stream = 'bills' and not exists (
       select from sync.passes p where p.connection_id = s.connection_id and p.stream = s.stream
     )`,
  );
  const both = ['bills', 'customers'];
  const days = { from: '2024-01-01', to: '2024-01-20' };
  expect(await service.backfill(both, days)).toMatchObject({ status: 'partial' });
  expect(await service.backfill(both, days)).toMatchObject({ status: 'succeeded' });
  expect(await service.ids('bills')).toEqual(['one', 'two']);
});

/** Bills have two pages. The second is lost when `isRead` finds a row, while customers are asked for. */
async function withLostPage(isRead: string): Promise<ScriptedService> {
  const service = await serve();
  const bills = ['one', 'two'].map((id, place) => bill(id, { last_synced_at: at(place * 1_000 - 60_000) }));
  service.lists = { bills, customers: [customer('c')] };
  const pageTwo = (): ReturnType<typeof page> => page(service, 'bills', bills.slice(1));
  service.onList = async (resource, query) => {
    if (resource === 'customers') {
      await expect.poll(() => service.rows(isRead), { timeout: 20_000 }).toHaveLength(1);
      await takeOver(service);
      service.onList = (_resource, later) => (later.get('cursor') === 'two' ? pageTwo() : undefined);
      return undefined;
    }
    if (query.get('cursor') === null) return page(service, 'bills', bills.slice(0, 1), 'two');
    await expect.poll(() => service.ids('bills'), { timeout: 20_000 }).toEqual(['one']);
    await replicate(service);
    return pageTwo();
  };
  return service;
}

/** What each commit that lands bills writes, and which rows of it. */
const written = {
  'sync.streams': `stream = 'bills'`,
  'sync.passes': `stream = 'bills'`,
  'sync.run_streams': `stream = 'bills'`,
  'finance.bills': 'true',
  'finance.bill_lines': 'true',
  'history.record_versions': `resource = 'bills'`,
};

async function replicate({ connection }: ScriptedService): Promise<void> {
  for (const [table, rows] of Object.entries(written)) {
    await warehouse.pool.query(`drop table if exists ${copyOf(table)}`);
    await warehouse.pool.query(
      `create table ${copyOf(table)} as select * from ${table} where connection_id = '${connection}' and ${rows}`,
    );
  }
}

async function takeOver({ connection }: ScriptedService): Promise<void> {
  for (const [table, rows] of Object.entries(written)) {
    await warehouse.pool.query(`delete from ${table} where connection_id = '${connection}' and ${rows}`);
    await warehouse.pool.query(`insert into ${table} select * from ${copyOf(table)}`);
  }
}

function copyOf(table: string): string {
  return `public.standby_${table.replace('.', '_')}`;
}
