import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { resources } from '../../resources/index.ts';
import { LeaseLost } from '../../warehouse/errors.ts';
import type { PassInHand } from '../../warehouse/passes/pass.ts';
import { blockWrites, waitingSessions } from '../support/blocked-session.ts';
import { bill, expense } from '../support/finance-records.ts';
import { land, landRecords, openPass } from '../support/land.ts';
import { row, rows, type Row } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { addTombstone } from '../support/tombstone.ts';

const { warehouse, url, adminUrl } = await createTestDatabase();

const stateTables = [
  'connections',
  'resource_clocks',
  'streams',
  'passes',
  'run_streams',
  'tombstones',
  'quarantine',
  'field_issues',
];
const dataTables = resources.flatMap(({ name, children }) => [name, ...children.map(({ table }) => table)]);

describe('a killed landing leaves a whole page or nothing', () => {
  test.each([
    'sync.passes',
    'sync.resource_clocks',
    'finance.bill_lines',
    'finance.bills',
    'history.record_versions',
    'sync.tombstones',
    'sync.field_issues',
    'sync.quarantine',
    'sync.streams',
    'sync.run_streams',
  ])('if killed before it writes to %s, and can be run again', async (table) => {
    const connectionId = await addTestConnection(warehouse);
    const pass = await passWithHeldRecords(connectionId);
    const records = [
      bill('changed', { memo: '"new"' }),
      bill('touched', { last_synced_at: '"2024-03-01T00:00:00Z"' }),
      bill('deleted', { last_synced_at: '"2024-03-01T00:00:00Z"', currency_rate: '"N/A"' }),
      bill('inserted'),
      bill('', { memo: '"bad"' }),
    ];
    const page = { pass, records };
    const before = await stateOf(connectionId);

    const block = await blockWrites(url, table);
    const landing = landRecords(warehouse, page);
    const failed = expect(landing).rejects.toThrow();
    const [pid] = await waitingSessions(adminUrl);
    await warehouse.pool.query('select pg_terminate_backend($1)', [pid]);
    await failed;
    await block.letGo();
    expect(await stateOf(connectionId)).toEqual(before);

    expect(await landRecords(warehouse, page)).toMatchObject({
      inserted: 2,
      updated: 1,
      unchanged: 1,
      quarantined: 1,
    });
    expect(
      await row(
        warehouse,
        `select watermark::text, r.status, pages, read, inserted, updated, unchanged, quarantined,
           (select count(*) from sync.passes where connection_id = $1) as open_passes
         from sync.streams s join sync.run_streams r on r.run_id = $2 where s.connection_id = $1`,
        [connectionId, pass.runId],
      ),
    ).toEqual({
      watermark: '2024-03-01 00:00:00+00',
      status: 'partial',
      pages: 1,
      read: 5,
      open_passes: 0,
      inserted: 2,
      updated: 1,
      unchanged: 1,
      quarantined: 1,
    });
  });

  test('a process continues after the database ended an idle session', async () => {
    await warehouse.pool.query('select 1');
    await rows(
      warehouse,
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
    );
    expect(await row(warehouse, 'select 1 as one')).toEqual({ one: 1 });
  });
});

test('a page, its cursor, counts, and highest version are one commit, and the watermark moves with the last page', async () => {
  const connectionId = await addTestConnection(warehouse);
  const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
  const at = (day: number): { last_synced_at: string } => ({
    last_synced_at: `"2024-02-0${day}T00:00:00.000001Z"`,
  });
  await landRecords(warehouse, { pass, records: [bill('a', at(3)), bill('b', at(2))], nextCursor: 'page-2' });
  expect(await progressOf(pass)).toEqual({
    ...{
      cursor: 'page-2',
      shown_cursor: 'page-2',
      highest_seen: '2024-02-03 00:00:00.000001+00',
      watermark: null,
    },
    ...{
      status: 'running',
      pages: 1,
      requests: 1,
      read: 2,
      inserted: 2,
      watermark_after: null,
      succeeded: false,
    },
  });
  await landRecords(warehouse, { pass, records: [bill('c', at(1))] });
  expect(await progressOf(pass)).toEqual({
    cursor: null,
    shown_cursor: null,
    highest_seen: null,
    watermark: '2024-02-03 00:00:00.000001+00',
    status: 'succeeded',
    pages: 2,
    requests: 2,
    read: 3,
    inserted: 3,
    succeeded: true,
    watermark_after: '2024-02-03 00:00:00.000001+00',
  });
});

describe('an attempt that lost its lease', () => {
  test('writes nothing', async () => {
    const connectionId = await addTestConnection(warehouse);
    const { pass: lost } = await openPass(warehouse, { connectionId, stream: 'bills' });
    const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
    const before = await stateOf(connectionId);
    await expect(landRecords(warehouse, { pass: lost, records: [bill('b')] })).rejects.toThrow(LeaseLost);
    expect(await stateOf(connectionId)).toEqual(before);
    expect(await landRecords(warehouse, { pass, records: [bill('b')] })).toMatchObject({ inserted: 1 });
  });

  test('writes nothing after the pass was completed', async () => {
    const connectionId = await addTestConnection(warehouse);
    const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
    await landRecords(warehouse, { pass, records: [bill('b')] });
    await expect(landRecords(warehouse, { pass, records: [bill('c')] })).rejects.toThrow(
      `Another attempt is now reading bills of ${connectionId}, so this one stopped; nothing is lost.`,
    );
  });

  test('during a page still commits the page, and the next attempt continues behind it', async () => {
    const connectionId = await addTestConnection(warehouse);
    const { pass: first } = await openPass(warehouse, { connectionId, stream: 'bills' });
    const block = await blockWrites(url, 'finance.bills');
    const landing = landRecords(warehouse, { pass: first, records: [bill('b')], nextCursor: 'page-2' });
    await waitingSessions(adminUrl);
    const second = openPass(warehouse, { connectionId, stream: 'bills' });
    await waitingSessions(adminUrl, 2);
    await block.letGo();
    await landing;
    expect((await second).taken).toMatchObject({ state: 'open', cursor: 'page-2', floorMilliseconds: null });
    await expect(landRecords(warehouse, { pass: first, records: [bill('c')] })).rejects.toThrow(LeaseLost);
  });
});

test('two lists of one resource land concurrently without a deadlock or a lost page', async () => {
  const connectionId = await addTestConnection(warehouse);
  const runId = randomUUID();
  const ids = Array.from({ length: 40 }, (_, index) => `e${index}`);
  const pagesOf = (memo: string, order: string[]): string[][] =>
    Array.from({ length: 15 }, (_, page) => order.map((id) => expense(id, { memo: `"${memo} ${page}"` })));
  await Promise.all([
    land(warehouse, { connectionId, runId, stream: 'expenses', pages: pagesOf('expense', ids) }),
    land(warehouse, { connectionId, runId, stream: 'refunds', pages: pagesOf('refund', ids.toReversed()) }),
  ]);
  expect(
    await row(
      warehouse,
      `select count(*) as records, min(memo) as memo, count(distinct memo) as memos
       from finance.expenses where connection_id = $1`,
      [connectionId],
    ),
  ).toMatchObject({ records: 40, memo: expect.stringMatching(/ 14$/) as unknown, memos: 1 });
  expect(
    await row(
      warehouse,
      'select sum(inserted)::int as inserted, sum(updated)::int as updated from sync.run_streams where connection_id = $1',
      [connectionId],
    ),
  ).toEqual({ inserted: 40, updated: 29 * 40 });
});

/** A pass in which nothing has landed yet, with records that an earlier pass left in every state. */
async function passWithHeldRecords(connectionId: string): Promise<PassInHand> {
  const held = [bill('changed', { currency_rate: '"ask"' }), bill('touched')];
  await land(warehouse, { connectionId, stream: 'bills', pages: [held] });
  await addTombstone(warehouse, { connectionId, recordId: 'deleted', version: '2024-02-01T00:00:00Z' });
  const { pass } = await openPass(warehouse, { connectionId, stream: 'bills' });
  return pass;
}

/** Everything that the warehouse holds of the connection. */
async function stateOf(connectionId: string): Promise<Record<string, Row[]>> {
  const tables = [
    ...dataTables.map((table) => `finance.${table}`),
    'history.record_versions',
    ...stateTables.map((table) => `sync.${table}`),
  ];
  const contents = tables.map(
    async (table) =>
      [
        table,
        await rows(warehouse, `select t::text as held from ${table} t where connection_id = $1 order by 1`, [
          connectionId,
        ]),
      ] as const,
  );
  return Object.fromEntries(await Promise.all(contents));
}

function progressOf(pass: PassInHand): Promise<Row> {
  return row(
    warehouse,
    `select p.cursor, s.cursor as shown_cursor, p.highest_seen::text, s.watermark::text,
       s.last_success_at is not null as succeeded,
       r.status, r.pages, r.requests, r.read, r.inserted, r.watermark_after::text
     from sync.streams s
     join sync.run_streams r on r.run_id = $2 and r.stream = s.stream
     left join sync.passes p on p.connection_id = s.connection_id and p.stream = s.stream
     where s.connection_id = $1`,
    [pass.connectionId, pass.runId],
  );
}
