import pg from 'pg';
import { expect, test } from 'vitest';
import { usualSizes } from '../../activities/export/plan-parts.ts';
import { weighDecidingTables } from '../../activities/export/weigh-tables.ts';
import { SnapshotBroken } from '../../lake/errors.ts';
import { removeConnection } from '../../warehouse/connections/remove-connection.ts';
import { keepWeights, type TableWeights } from '../../warehouse/snapshots/keep-weights.ts';
import { openExportSession, type ExportSession } from '../../warehouse/snapshots/open-snapshot.ts';
import { snapshotTables } from '../../warehouse/snapshots/snapshot-tables.ts';
import { weighTable, type TableWeighed } from '../../warehouse/snapshots/weigh-table.ts';
import { connectionWithEverything } from '../support/connection-with-everything.ts';
import { bill, customer, text } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { buildDeletionEvent, landEvents } from '../support/land-events.ts';
import { loseLock } from '../support/lose-lock.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestLake } from './create-test-lake.ts';
import { lockHeld } from './lock-held.ts';

const { warehouse, url } = await createTestDatabase();
const weighed = snapshotTables.filter(
  ({ changesBy }) => typeof changesBy === 'object' && 'writtenTo' in changesBy,
);

test('only changed connections are weighed again, and all weights equal those of one pass over the table', async () => {
  const connections: string[] = [];
  for (let count = 0; count < 12; count += 1) connections.push(await connectionWithEverything(warehouse));
  const [one = '', other = ''] = connections;
  expect(await weigh()).toEqual(allOf(await byName()));
  expect(await weigh(), 'nothing has changed').toEqual({});

  await land(warehouse, { connectionId: one, stream: 'bills', pages: [[bill('new'), bill('b')]] });
  expect(await weigh(), 'a page landed').toEqual(bills(one));

  await land(warehouse, { connectionId: one, stream: 'bills', pages: [[bill('new'), bill('b')]] });
  expect(await weigh(), 'the same page landed').toEqual({});

  const touched = bill('new', { last_synced_at: text('2031-01-01T00:00:00Z') });
  await land(warehouse, { connectionId: one, stream: 'bills', pages: [[touched]] });
  expect(await weigh(), 'a record was only seen again').toEqual(bills(one));

  await land(warehouse, { connectionId: other, stream: 'customers', pages: [[customer('d')]] });
  await landEvents(warehouse, {
    connectionId: one,
    events: [buildDeletionEvent('new', '2032-01-01T00:00:00Z')],
  });
  expect(await weigh(), 'a deletion, and a page of another company').toEqual({
    ...bills(one),
    customers: [other],
    customer_addresses: [other],
    ...Object.fromEntries(ofAnyResource.map((table) => [table, [one, other].sort()])),
  });
});

test('a table changed by hand is weighed in full', async () => {
  for (const [what, statement, ...tables] of [
    ['changed', "update finance.bills set memo = 'by hand' where id = 'b'", 'bills'],
    ['deleted', "delete from finance.items where id = 'i'", 'items'],
    ['emptied', 'truncate finance.customer_addresses', 'customer_addresses'],
    ['revived', 'delete from sync.tombstones', 'deleted_records', 'deleted_subscriptions'],
    ['mended', "delete from sync.field_issues where field = 'currency_rate'", ...ofIssues],
    ['emptied of issues', 'truncate sync.field_issues', ...ofIssues],
  ] as const) {
    await weigh();
    await warehouse.pool.query(statement);
    expect(Object.keys(await weigh()), what).toEqual(tables);
    expect(await weigh(), what).toEqual({});
  }
  await weigh();
  await warehouse.pool.query("begin; update finance.bills set memo = 'never'; rollback");
  expect(await weigh(), 'rolled back').toEqual({});
});

test('an uncommitted change of another session is weighed after its commit', async () => {
  const client = new pg.Client(url);
  await client.connect();
  await weigh();
  await client.query("begin; update finance.bills set memo = 'later'");
  expect(await weigh()).toEqual({});
  await client.query('commit');
  await client.end();
  expect(Object.keys(await weigh())).toEqual(['bills']);
});

test('a connection added under the name of a removed one is weighed anew', async () => {
  const connectionId = await addTestConnection(warehouse);
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('first')]] });
  await weigh();
  await removeConnection(warehouse, { connectionId, keepData: false });
  await addTestConnection(warehouse, connectionId);
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('second')]] });
  expect((await weigh()).bills).toContain(connectionId);
});

test('weights kept after a connection was removed are not used for a new connection of that name', async () => {
  const connectionId = await addTestConnection(warehouse);
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('first')]] });
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('other')]] });
  const found = await inSnapshot((client) => weighAll(client));
  await removeConnection(warehouse, { connectionId, keepData: false });
  await keep(found);
  await addTestConnection(warehouse, connectionId);
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('second')]] });
  await landEvents(warehouse, {
    connectionId,
    events: [buildDeletionEvent('second', '2032-01-01T00:00:00Z')],
  });
  expect((await weigh()).deleted_records).toContain(connectionId);
});

test('a table whose changes are not counted is weighed each time', async () => {
  await weigh();
  await warehouse.pool.query('drop trigger note_change on finance.items');
  expect(Object.keys(await weigh())).toEqual(['items']);
  expect(Object.keys(await weigh())).toEqual(['items']);
});

test('weights taken before a failover are not kept by the server that took over', async () => {
  const connectionId = await addTestConnection(warehouse);
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('lost')]] });
  const before = await rows(warehouse, keptSql);
  const session = await openExportSession(url);
  const snapshot = await session.openSnapshot({ readers: 2 });
  const deciding = await weighDecidingTables(snapshot, { sizes: usualSizes, onProgress: () => undefined });
  // Sessions do not survive their server. The next session is with the standby.
  await warehouse.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'daybook export%'`,
  );
  await expect(snapshot.release()).rejects.toThrow();
  const found = [...deciding.values()].flatMap(({ weights }) => weights ?? []);
  await expect(session.keepWeights(found)).rejects.toThrow();
  await snapshot.close();
  await session.close();
  expect(await rows(warehouse, keptSql)).toEqual(before);
});

test('an export that has lost its lock keeps nothing: what another one has weighed since stays', async () => {
  const connectionId = await addTestConnection(warehouse);
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('before')]] });
  const first = await openExportSession(url);
  const seenByFirst = await weighedBy(first);
  await loseLock(warehouse);
  await warehouse.pool.query(`update finance.bills set memo = 'by hand' where connection_id = $1`, [
    connectionId,
  ]);
  const second = await openExportSession(url);
  await second.keepWeights(await weighedBy(second));
  await second.close();
  const kept = await rows(warehouse, keptSql);
  await expect(first.keepWeights(seenByFirst)).rejects.toThrow();
  await first.close();
  expect(await rows(warehouse, keptSql)).toEqual(kept);
});

test('no text of a field issue, nor of a deleted subscription, is read to see that nothing has changed', async () => {
  const connectionId = await connectionWithEverything(warehouse);
  await weigh();
  const looked = await inSnapshot(async (client) => {
    const asked: string[] = [];
    const query = client.query.bind(client) as (...input: unknown[]) => Promise<unknown>;
    const noted = (...input: unknown[]): Promise<unknown> => {
      asked.push(String(input[0]));
      return query(...input);
    };
    Object.assign(client, { query: noted });
    for (const table of snapshotTables)
      if (table.changesBy !== 'none') await weighTable(client, table, usualSizes);
    return asked;
  });
  expect(looked.length).toBeGreaterThan(20);
  expect(looked.filter((text) => /field_issues|sync\.tombstones/.test(text))).toEqual([]);
  await land(warehouse, {
    connectionId,
    stream: 'bills',
    pages: [[bill('b', { currency_rate: '"none"', last_synced_at: text('2031-01-01T00:00:00Z') })]],
  });
  expect((await weigh()).field_issues).toEqual([connectionId]);
});

test('a count of changes that a failover lost is not used again', async () => {
  const connectionId = await addTestConnection(warehouse);
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('first')]] });
  const changes = `select changes::text from sync.resource_clocks where connection_id = '${connectionId}' and resource = 'bills'`;
  const [survived] = await rows(warehouse, changes);
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('second')]] });
  const [lost] = await rows(warehouse, changes);
  await weigh();
  // The standby lacks the second page, and got the next one.
  await warehouse.pool.query(
    'update sync.resource_clocks set changes = $2 where connection_id = $1 and resource = $3',
    [connectionId, survived?.changes, 'bills'],
  );
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('third')]] });
  const [now] = await rows(warehouse, changes);
  expect(BigInt(String(now?.changes))).toBeGreaterThan(BigInt(String(survived?.changes)));
  expect(now).not.toEqual(lost);
  expect((await weigh()).bills).toEqual([connectionId]);
});

test('an export that finds wrong weights fails, and its next attempt weighs everything', async () => {
  const { exportNow } = await createTestLake(url);
  await exportNow();
  await warehouse.pool.query("update sync.table_weights set rows = rows + 1 where table_name = 'bills'");
  await expect(exportNow({ force: true })).rejects.toThrow(SnapshotBroken);
  expect(await exportNow({ force: true })).toMatchObject({ skipped: false });
});

test('a part that was published with another number of rows than is wanted now is not kept', async () => {
  const { exportNow } = await createTestLake(url);
  const connectionId = await addTestConnection(warehouse);
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b')]] });
  await exportNow();
  await warehouse.pool.query(
    "update sync.table_weights set rows = rows + 1 where table_name = 'bills' and connection_id = $1",
    [connectionId],
  );
  await land(warehouse, { connectionId, stream: 'customers', pages: [[customer('e')]] });
  await expect(exportNow()).rejects.toThrow(SnapshotBroken);
  expect(await exportNow()).toMatchObject({ skipped: false });
});

const keptSql = 'select * from sync.table_weights order by table_name, connection_id';

/** What an export finds in its moment. */
async function weighedBy(session: ExportSession): Promise<TableWeights[]> {
  const snapshot = await session.openSnapshot({ readers: 1 });
  const deciding = await weighDecidingTables(snapshot, { sizes: usualSizes, onProgress: () => undefined });
  await snapshot.release();
  return [...deciding.values()].flatMap(({ weights }) => weights ?? []);
}

/** Weighs as an export does, and compares with one pass over each table. Returns which connections of which tables were read. */
async function weigh(): Promise<Record<string, string[]>> {
  const found = await inSnapshot(async (client) => {
    const kept = await weighAll(client);
    await client.query('delete from sync.table_weights');
    const anew = await weighAll(client);
    for (const [table, { rows: count, mark, connections }] of anew)
      expect(kept.get(table), table).toMatchObject({ rows: count, mark, connections });
    return kept;
  });
  await keep(found);
  return Object.fromEntries(
    [...found]
      .map(
        ([table, { weights }]) =>
          [table, (weights?.fresh ?? []).map(({ connection }) => connection).sort()] as const,
      )
      .filter(([, connections]) => connections.length > 0),
  );
}

async function keep(found: ReadonlyMap<string, TableWeighed>): Promise<void> {
  const writer = new pg.Client(url);
  await writer.connect();
  const weights = [...found.values()].flatMap((one) => one.weights ?? []);
  await keepWeights(writer, { weights, assertHeld: lockHeld });
  await writer.end();
}

async function weighAll(client: pg.Client): Promise<Map<string, TableWeighed>> {
  const found = new Map<string, TableWeighed>();
  for (const table of weighed) found.set(table.name, await weighTable(client, table, usualSizes));
  return found;
}

/** Reads in a transaction that is rolled back. */
async function inSnapshot<Result>(read: (client: pg.Client) => Promise<Result>): Promise<Result> {
  const client = new pg.Client(url);
  await client.connect();
  await client.query('begin isolation level repeatable read');
  try {
    return await read(client);
  } finally {
    await client.query('rollback');
    await client.end();
  }
}

async function byName(): Promise<string[]> {
  const found = await rows(warehouse, 'select connection_id as id from sync.connections order by 1');
  return found.map(({ id }) => String(id));
}

function allOf(connections: string[]): Record<string, string[]> {
  return Object.fromEntries(weighed.map(({ name }) => [name, connections]));
}

const ofIssues = ['field_issue_counts', 'field_issues'];

/** Whose rows are of any resource: they are looked at with each change of a connection. */
const ofAnyResource = ['deleted_records', 'deleted_subscriptions', ...ofIssues];

function bills(connection: string): Record<string, string[]> {
  const tables = [
    'bills',
    'bill_lines',
    'bill_payment_allocations',
    'bill_credit_allocations',
    'bill_purchase_orders',
  ];
  return Object.fromEntries([...tables, ...ofAnyResource].map((table) => [table, [connection]]));
}
