import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { resources, streams } from '../../resources/index.ts';
import { addConnection, ConnectionExists } from '../../warehouse/connections/add-connection.ts';
import { listConnections } from '../../warehouse/connections/list-connections.ts';
import { readStatus } from '../../warehouse/connections/read-status.ts';
import { removeConnection } from '../../warehouse/connections/remove-connection.ts';
import { UnknownConnection } from '../../warehouse/errors.ts';
import { noteFailing } from '../../warehouse/passes/note-failing.ts';
import { noteMissing } from '../../warehouse/passes/note-missing.ts';
import { listQuarantine, readQuarantineEntry } from '../../warehouse/quarantine/read-quarantine.ts';
import * as records from '../support/finance-records.ts';
import { land, openPass } from '../support/land.ts';
import { row, rows, type Row } from '../support/rows.ts';
import { addTestConnection, testApiAddress, testKey } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { addTombstone } from '../support/tombstone.ts';

const { warehouse } = await createTestDatabase();

describe('a connection that is removed', () => {
  test('takes its state, records and history with it, and leaves those of others', async () => {
    const [removed, other] = [await connectionWithEverything(), await connectionWithEverything()];
    const before = await rowsPerTable(other);
    expect(before.filter(({ held }) => held === 0)).toEqual([]);
    await removeConnection(warehouse, { connectionId: removed, keepData: false });
    expect((await rowsPerTable(removed)).filter(({ held }) => held !== 0)).toEqual([]);
    expect(await rowsPerTable(other)).toEqual(before);
  });

  test('leaves its records, their history, their deletions and field issues when they are kept', async () => {
    const connectionId = await connectionWithEverything();
    const isData = ({ table }: Row): boolean =>
      /^(finance|history)\.|^sync\.(tombstones|overruled_deletions|field_issues|resource_clocks|reader_connections)$/.test(
        String(table),
      );
    const before = (await rowsPerTable(connectionId)).filter(isData);
    await removeConnection(warehouse, { connectionId, keepData: true });
    const after = await rowsPerTable(connectionId);
    expect(after.filter(isData)).toEqual(before);
    expect(after.filter((table) => !isData(table) && table.held !== 0)).toEqual([]);
  });

  test('must exist', async () => {
    const removing = removeConnection(warehouse, { connectionId: 'nobody', keepData: false });
    await expect(removing).rejects.toThrow(UnknownConnection);
  });
});

test('a name is given once', async () => {
  const connectionId = await addTestConnection(warehouse);
  const again = { connectionId, apiAddress: testApiAddress, token: 'other', expandPlatformData: true };
  await expect(addConnection(warehouse, testKey, again)).rejects.toThrow(ConnectionExists);
  const listed = (await listConnections(warehouse)).find(
    ({ connection_id }) => connection_id === connectionId,
  );
  expect(listed).toEqual({
    connection_id: connectionId,
    api_address: testApiAddress,
    expand_platform_data: false,
    platform: null,
    org_id: null,
    created_at: expect.any(Date) as unknown,
    paused: null,
    every_seconds: null,
    reconcile_every_seconds: null,
    backfill_every_seconds: null,
  });
});

test('the status of a connection tells the state of each stream', async () => {
  const connectionId = await addTestConnection(warehouse);
  await land(warehouse, { connectionId, stream: 'bills', pages: [[records.bill('b'), '{}']] });
  await openPass(warehouse, { connectionId, stream: 'customers' });
  const runId = randomUUID();
  await openPass(warehouse, { connectionId, stream: 'expenses', runId });
  const refunds = await openPass(warehouse, { connectionId, stream: 'refunds', runId });
  await noteFailing(warehouse, { pass: refunds.pass, requests: 1 });
  const items = await openPass(warehouse, { connectionId, stream: 'items', runId });
  await noteMissing(warehouse, { pass: items.pass, requests: 1 });

  const [status] = await readStatus(warehouse, connectionId);
  expect(status).toMatchObject({
    name: connectionId,
    quarantined: 1,
    last_run: { run_id: items.pass.runId },
  });
  expect(status?.streams.map(({ stream, state }) => [stream, state])).toEqual([
    ['bills', 'complete'],
    ['expenses', 'reading'],
    ['refunds', 'failing'],
    ['bill_credit_memos', 'never'],
    ['customers', 'begun'],
    ['items', 'unsupported'],
    ['subscriptions', 'never'],
    ['events', 'never'],
  ]);
  expect(status?.streams[0]).toMatchObject({
    watermark: new Date('2024-01-16'),
    freshness_seconds: expect.any(Number) as unknown,
  });
  await expect(readStatus(warehouse, 'nobody')).rejects.toThrow(UnknownConnection);
});

test('finance.connections tells when each resource was last read completely, by all of its streams', async () => {
  const connectionId = await addTestConnection(warehouse);
  const expensesSuccess = async (): Promise<unknown> =>
    (
      await row(
        warehouse,
        'select expenses_last_success_at is not null as known from finance.connections where connection_id = $1',
        [connectionId],
      )
    ).known;
  await openPass(warehouse, { connectionId, stream: 'refunds' });
  await land(warehouse, { connectionId, stream: 'expenses', pages: [[]] });
  expect(await expensesSuccess()).toBe(false);
  await land(warehouse, { connectionId, stream: 'refunds', pages: [[]] });
  expect(await expensesSuccess()).toBe(true);
});

test('quarantine is listed with the newest first, closed entries only when all are asked for', async () => {
  const connectionId = await addTestConnection(warehouse);
  const bad = records.customer('one', { email: '1' });
  const pages = [[bad], ['{"id":"two"}'], [records.customer('one')]];
  await land(warehouse, { connectionId, stream: 'customers', pages });
  const idsOf = async (all: boolean): Promise<(string | null)[]> =>
    (await listQuarantine(warehouse, { all }))
      .filter(({ connection_id }) => connection_id === connectionId)
      .map(({ record_id }) => record_id);
  expect(await idsOf(false)).toEqual(['two']);
  expect(await idsOf(true)).toEqual(['two', 'one']);
  const [, closed] = (await listQuarantine(warehouse, { all: true })).filter(
    (entry) => entry.connection_id === connectionId,
  );
  expect(await readQuarantineEntry(warehouse, closed?.id ?? 0)).toMatchObject({
    status: 'landed',
    payload: bad,
  });
  expect(await readQuarantineEntry(warehouse, 0)).toBeUndefined();
});

/** A connection with at least one row in every table that has a connection. */
async function connectionWithEverything(): Promise<string> {
  const connectionId = await addTestConnection(warehouse);
  const links = records.list(records.allocation('x'));
  const bill = records.bill('b', {
    linked_payments: links,
    linked_credit_memos: links,
    linked_purchase_orders: links,
    currency_rate: '"N/A"',
  });
  const pages: Record<string, string[]> = {
    bills: [bill, '{}'],
    expenses: [records.expense('e')],
    bill_credit_memos: [records.billCreditMemo('m')],
    customers: [records.customer('c')],
    items: [records.item('i')],
    subscriptions: [records.subscription('s')],
  };
  for (const { stream } of streams) {
    await land(warehouse, { connectionId, stream: stream.name, pages: [pages[stream.name] ?? []] });
  }
  await addTombstone(warehouse, { connectionId, recordId: 'gone', version: '2024-02-01T00:00:00Z' });
  await warehouse.pool.query(
    `insert into sync.overruled_deletions (connection_id, resource, record_id, versions, until) values ($1, 'bills', 'b', '{2024-02-01}', '2024-02-01')`,
    [connectionId],
  );
  await warehouse.pool.query(
    `insert into sync.discrepancies (connection_id, resource, record_id, kind, status, run_id)
     values ($1, 'bills', 'b', 'stale', 'repaired', 'r')`,
    [connectionId],
  );
  await warehouse.pool.query(
    `insert into sync.listed_pages (connection_id, stream, listing, page, records) values ($1, 'bills', 1, 0, '[]')`,
    [connectionId],
  );
  await warehouse.pool.query(
    `insert into sync.webhook_inbox (digest, connection_id, type, code, payload) values ('of ' || $1, $1, '', '', '{}')`,
    [connectionId],
  );
  await warehouse.pool.query(
    `with added as (insert into sync.readers (reader, login, database_name) values ($1, 'of ' || $1, '') returning reader)
     insert into sync.reader_connections (reader, connection_id) select reader, $1 from added`,
    [connectionId],
  );
  await openPass(warehouse, { connectionId, stream: 'bills' });
  return connectionId;
}

/**
 * Alerts are left out: they outlive their connection, so that whoever was told of one is told that it is over. So is what is
 * written down when a connection is removed, and a view that shows nothing to the owner.
 */
async function rowsPerTable(connectionId: string): Promise<Row[]> {
  const inSync = await rows(
    warehouse,
    `select format('sync.%I', table_name) as name from information_schema.columns
     where table_schema = 'sync' and column_name = 'connection_id' and table_name not in ('alerts', 'kept_data', 'tombstones_seen')`,
  );
  const tables = [
    ...resources
      .flatMap(({ name, children }) => [name, ...children.map(({ table }) => table)])
      .map((table) => `finance.${table}`),
    'history.record_versions',
    ...inSync.map(({ name }) => String(name)),
  ];
  const counts = tables.map(
    (table) => `select '${table}' as "table", count(*) as held from ${table} where connection_id = $1`,
  );
  return rows(warehouse, counts.join(' union all '), [connectionId]);
}
