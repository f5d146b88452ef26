import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { addConnection, ConnectionExists } from '../../warehouse/connections/add-connection.ts';
import { listConnections } from '../../warehouse/connections/list-connections.ts';
import { readStatus } from '../../warehouse/connections/read-status.ts';
import { removeConnection } from '../../warehouse/connections/remove-connection.ts';
import { UnknownConnection } from '../../warehouse/errors.ts';
import { noteFailing } from '../../warehouse/passes/note-failing.ts';
import { noteMissing } from '../../warehouse/passes/note-missing.ts';
import { listQuarantine, readQuarantineEntry } from '../../warehouse/quarantine/read-quarantine.ts';
import { connectionWithEverything, rowsPerTable } from '../support/connection-with-everything.ts';
import * as records from '../support/finance-records.ts';
import { land, openPass } from '../support/land.ts';
import { row, type Row } from '../support/rows.ts';
import { addTestConnection, testApiAddress, testKey } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

describe('a removed connection', () => {
  test('takes its state, records, and history with it, and leaves those of others', async () => {
    const [removed, other] = [
      await connectionWithEverything(warehouse),
      await connectionWithEverything(warehouse),
    ];
    const before = await rowsPerTable(warehouse, other);
    expect(before.filter(({ held }) => held === 0)).toEqual([]);
    await removeConnection(warehouse, { connectionId: removed, keepData: false });
    expect((await rowsPerTable(warehouse, removed)).filter(({ held }) => held !== 0)).toEqual([]);
    expect(await rowsPerTable(warehouse, other)).toEqual(before);
  });

  test('leaves its records, history, deletions, and field issues when data is kept', async () => {
    const connectionId = await connectionWithEverything(warehouse);
    const isData = ({ table }: Row): boolean =>
      /^(finance|history)\.|^sync\.(tombstones|overruled_deletions|field_issues|resource_clocks|reader_connections)$/.test(
        String(table),
      );
    const before = (await rowsPerTable(warehouse, connectionId)).filter(isData);
    await removeConnection(warehouse, { connectionId, keepData: true });
    const after = await rowsPerTable(warehouse, connectionId);
    expect(after.filter(isData)).toEqual(before);
    expect(after.filter((table) => !isData(table) && table.held !== 0)).toEqual([]);
  });

  test('must exist', async () => {
    const removing = removeConnection(warehouse, { connectionId: 'nobody', keepData: false });
    await expect(removing).rejects.toThrow(UnknownConnection);
  });
});

test('a connection name can be added once', async () => {
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

test('a stalled list is as fresh as its watermark', async () => {
  const connectionId = await addTestConnection(warehouse);
  await land(warehouse, { connectionId, stream: 'bills', pages: [[records.bill('b')]] });
  const told = (): Promise<Row> =>
    row(
      warehouse,
      `select v.bills_last_success_at = s.last_success_at as "isLastReading", v.bills_last_success_at as at,
         v.bills_freshness > interval '1 day' as "isOld"
       from finance.connections v join sync.streams s using (connection_id)
       where v.name = $1 and s.stream = 'bills'`,
      [connectionId],
    );
  expect(await told()).toMatchObject({ isLastReading: true, isOld: false });
  const stall = (watermark: string | null): Promise<unknown> =>
    warehouse.pool.query(
      `update sync.streams set stalled_at = last_success_at, watermark = $2 where connection_id = $1 and stream = 'bills'`,
      [connectionId, watermark],
    );
  await stall('2026-01-01T00:00:00Z');
  expect(await told()).toMatchObject({ at: new Date('2026-01-01T00:00:00Z'), isOld: true });
  await stall(null);
  expect(await told()).toMatchObject({ at: null, isOld: null });
});

test('the status of a connection shows the state of each stream', async () => {
  const connectionId = await addTestConnection(warehouse);
  await land(warehouse, { connectionId, stream: 'bills', pages: [[records.bill('b'), '{}']] });
  await openPass(warehouse, { connectionId, stream: 'customers' });
  const runId = randomUUID();
  await openPass(warehouse, { connectionId, stream: 'expenses', runId });
  const refunds = await openPass(warehouse, { connectionId, stream: 'refunds', runId });
  await noteFailing(warehouse, { pass: refunds.pass, requests: 1 });
  const items = await openPass(warehouse, { connectionId, stream: 'items', runId });
  await noteMissing(warehouse, { pass: items.pass, requests: 1 });
  await warehouse.pool.query(
    `update sync.streams set capability = 'unsupported' where connection_id = $1 and stream = 'items'`,
    [connectionId],
  );

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

test('finance.connections shows when each resource was last read completely, by all of its streams', async () => {
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

test('quarantine is listed newest first, with closed entries only on request', async () => {
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
