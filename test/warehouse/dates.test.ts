import pg from 'pg';
import { afterAll, expect, test, vi } from 'vitest';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import { allocation, bill, list, text } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { row } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const database = await createTestDatabase();

// Client and server use other time zones than the one in which the dates were written.
vi.stubEnv('TZ', 'America/Los_Angeles');
await database.warehouse.pool.query(
  `do $$ begin execute format('alter database %I set timezone = %L', current_database(), 'Asia/Tokyo'); end $$`,
);
const warehouse = openWarehouse({ url: database.url, connections: 2 });
afterAll(async () => {
  vi.unstubAllEnvs();
  await warehouse.close();
});

test('the process and the database of these tests are not in UTC', async () => {
  expect(new Date('2024-01-31T00:00:00Z').getDate()).toBe(30);
  // A client that sets no time zone of its own, like Daybook's sessions.
  const client = new pg.Client({ connectionString: database.adminUrl });
  await client.connect();
  const { rows } = await client.query('show timezone');
  await client.end();
  expect(rows).toEqual([{ TimeZone: 'Asia/Tokyo' }]);
});

test.each([
  ['2024-01-31', '2024-01-31'],
  ['2024-01-31T00:00:00Z', '2024-01-31'],
  ['2024-01-31T23:59:59.999Z', '2024-01-31'],
  ['2024-01-31T23:30:00-08:00', '2024-01-31'],
  ['2024-01-31T00:30:00+14:00', '2024-01-31'],
  ['2024-02-29 12:00:00', '2024-02-29'],
  ['0001-01-01', '0001-01-01'],
  ['9999-12-31', '9999-12-31'],
])('%s is the day %s: the first ten characters as written, no time zone shift', async (written, day) => {
  const connectionId = await addTestConnection(warehouse);
  const record = bill('b', {
    issue_date: text(written),
    due_date: text(written),
    linked_payments: list(allocation('p', { allocated_date: text(written) })),
  });
  await land(warehouse, { connectionId, stream: 'bills', pages: [[record]] });
  expect(
    await row(
      warehouse,
      `select issue_date, due_date, allocated_date from finance.bills
       join finance.bill_payment_allocations a on a.connection_id = $1 and a.bill_id = id
       where bills.connection_id = $1`,
      [connectionId],
    ),
  ).toEqual({ issue_date: day, due_date: day, allocated_date: day });
});

test.each([
  ['2024-01-31T00:00:00.123456Z', '2024-01-31 00:00:00.123456+00'],
  ['2024-01-31T00:00:00+02:00', '2024-01-30 22:00:00+00'],
  ['2024-01-31T00:00:00', '2024-01-31 00:00:00+00'],
  ['2024-01-31', '2024-01-31 00:00:00+00'],
])('the time %s is the moment %s, to the microsecond; without a zone it is UTC', async (written, moment) => {
  const connectionId = await addTestConnection(warehouse);
  const record = bill('b', { updated_at: text(written), last_synced_at: text(written) });
  await land(warehouse, { connectionId, stream: 'bills', pages: [[record]] });
  expect(
    await row(
      warehouse,
      `select updated_at::text, last_synced_at::text,
         (select watermark::text from sync.streams where connection_id = $1) as watermark
       from finance.bills where connection_id = $1`,
      [connectionId],
    ),
  ).toEqual({ updated_at: moment, last_synced_at: moment, watermark: moment });
});
