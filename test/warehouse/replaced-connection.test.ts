import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { describe, expect, test } from 'vitest';
import { resourceNamed } from '../../resources/index.ts';
import { sourceRecord } from '../../resources/source-record.ts';
import { addConnection } from '../../warehouse/connections/add-connection.ts';
import { beginRemoval } from '../../warehouse/connections/begin-removal.ts';
import { noteSyncEnd } from '../../warehouse/connections/note-sync-end.ts';
import { pauseConnection } from '../../warehouse/connections/pause-connection.ts';
import { proveToken } from '../../warehouse/connections/prove-token.ts';
import { refuseToken } from '../../warehouse/connections/refuse-token.ts';
import { removeConnection } from '../../warehouse/connections/remove-connection.ts';
import { setToken } from '../../warehouse/connections/set-token.ts';
import { ConnectionReplaced, LeaseLost, TokenNotProved } from '../../warehouse/errors.ts';
import { eraseRecord } from '../../warehouse/erase/erase-record.ts';
import { inTransaction } from '../../warehouse/transactions/in-transaction.ts';
import { keepStreamMonths } from '../../warehouse/history/keep-stream-months.ts';
import { rebuildBatch } from '../../warehouse/history/rebuild-batch.ts';
import { landFetched } from '../../warehouse/landing/land-fetched.ts';
import { landAhead } from '../../warehouse/reconcile/land-ahead.ts';
import type { RunScope } from '../../warehouse/record-scope.ts';
import { finishRun } from '../../warehouse/runs/finish-run.ts';
import { readContext } from '../../warehouse/snapshots/read-context.ts';
import { buryAnnounced } from '../../warehouse/webhooks/bury-announced.ts';
import { addRun } from '../alerts/facts.ts';
import { waitingSessions } from '../support/blocked-session.ts';
import { connectionWithEverything } from '../support/connection-with-everything.ts';
import { bill } from '../support/finance-records.ts';
import { landListing } from '../support/land-listing.ts';
import { begin, land, readTokenMark } from '../support/land.ts';
import { row, rows, type Row } from '../support/rows.ts';
import { addTestConnection, testApiAddress, testKey } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse, url } = await createTestDatabase();

describe('work begun for a removed connection, once another one has its name,', () => {
  test('cannot begin its run again', async () => {
    const connectionId = await addTestConnection(warehouse);
    const [open, ended, later] = [randomUUID(), randomUUID(), randomUUID()];
    await begin(warehouse, { connectionId, runId: ended });
    await finishRun(warehouse, { runId: ended, outcomes: [], cancelled: true });
    await begin(warehouse, { connectionId, runId: open });
    await replace(connectionId);
    for (const runId of [open, ended])
      await expect(begin(warehouse, { connectionId, runId })).rejects.toThrow(ConnectionReplaced);
    await begin(warehouse, { connectionId, runId: later });
    expect(
      await rows(warehouse, 'select run_id from sync.runs where connection_id = $1', [connectionId]),
    ).toEqual([{ run_id: later }]);
  });

  test('does not pin the company of a late response, and the new token pins its own company', async () => {
    const connectionId = await addTestConnection(warehouse);
    const late = await asking(connectionId);
    await replace(connectionId);
    await expect(proveToken(warehouse, { ...late, identity: companyX })).rejects.toThrow(ConnectionReplaced);
    await proveToken(warehouse, { ...(await asking(connectionId)), identity: companyY });
    expect(await pinnedOf(connectionId)).toEqual({ service_connection_id: companyY.id });
    const own = await addTestConnection(warehouse);
    await proveToken(warehouse, { ...(await asking(own)), identity: companyX });
  });

  test.each<[string, (run: RunScope) => Promise<unknown>]>([
    [
      'the deletion that a webhook announced',
      (run) =>
        buryAnnounced(warehouse, { ...run, id: 'held', version: new Date().toISOString(), deletedAt: null }),
    ],
    [
      'an erasure',
      (run) => eraseRecord(warehouse, { ...run, id: 'held', goneAt: new Date(), heldBefore: null }),
    ],
    [
      'a record that was kept',
      (run) =>
        landFetched(warehouse, { ...run, record: sourceRecord(bill('late')), token: null, servedAt: null }),
    ],
    ['a rebuild', (run) => rebuildBatch(warehouse, { ...run, after: '' })],
  ])('writes nothing to the new connection: %s', async (_what, write) => {
    const connectionId = await addTestConnection(warehouse);
    const runId = randomUUID();
    await land(warehouse, { connectionId, runId, stream: 'bills', pages: [[bill('held')]] });
    await replace(connectionId);
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('held', { memo: '"theirs"' })]] });
    const before = await heldBy(connectionId);
    const written = write({ connectionId, resource: resourceNamed('bills'), runId });
    await expect(written).rejects.toThrow(ConnectionReplaced);
    expect(await heldBy(connectionId)).toEqual(before);
  });

  test('writes nothing to the new connection: a record fetched by a reconcile, whose listing is gone', async () => {
    const connectionId = await addTestConnection(warehouse);
    const listing = await landListing(warehouse, { connectionId, stream: 'bills', records: [bill('held')] });
    await replace(connectionId);
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('held', { memo: '"theirs"' })]] });
    const before = await heldBy(connectionId);
    const { token } = listing.pass;
    const record = sourceRecord(bill('held'));
    const written = landAhead(warehouse, { ...listing, id: 'held', kind: 'ahead', token, record });
    await expect(written).rejects.toThrow(LeaseLost);
    expect(await heldBy(connectionId)).toEqual(before);
  });

  test('does not count as a failure of the new connection', async () => {
    const connectionId = await addTestConnection(warehouse);
    const runId = await addRun(warehouse, { connection: connectionId, status: 'failed' });
    await replace(connectionId);
    await noteSyncEnd(warehouse, { connectionId, runId, status: 'failed', pauseWhy: 'why' });
    expect(await stateOf(connectionId)).toMatchObject({ failures: 0, paused_by: null });
  });
});

test('a token replaced before its first response pins nothing', async () => {
  const connectionId = await addTestConnection(warehouse);
  const late = await asking(connectionId);
  await setToken(warehouse, testKey, { connectionId, token: 'the right one' });
  await expect(proveToken(warehouse, { ...late, identity: companyX })).rejects.toThrow(TokenNotProved);
  expect(await pinnedOf(connectionId)).toEqual({ service_connection_id: null });
});

describe('the recorded end of a sync', () => {
  test('does not lift a later pause when recorded late', async () => {
    const connectionId = await addTestConnection(warehouse);
    const first = await addRun(warehouse, { connection: connectionId, status: 'succeeded' });
    const second = await addRun(warehouse, { connection: connectionId, status: 'failed' });
    await noteSyncEnd(warehouse, { connectionId, runId: second, status: 'failed', pauseWhy: 'why' });
    const paused = await stateOf(connectionId);
    await noteSyncEnd(warehouse, { connectionId, runId: first, status: 'succeeded', pauseWhy: null });
    expect(await stateOf(connectionId)).toEqual(paused);
    expect(paused).toMatchObject({ failures: 1, paused_by: 'daybook' });
  });

  test('does not count as a failure after a newer success', async () => {
    const connectionId = await addTestConnection(warehouse);
    const first = await addRun(warehouse, { connection: connectionId, status: 'failed' });
    const second = await addRun(warehouse, { connection: connectionId, status: 'succeeded' });
    await noteSyncEnd(warehouse, { connectionId, runId: second, status: 'succeeded', pauseWhy: null });
    await noteSyncEnd(warehouse, { connectionId, runId: first, status: 'failed', pauseWhy: 'why' });
    expect(await stateOf(connectionId)).toMatchObject({ failures: 0, paused_by: null });
  });

  test('leaves a token refused that was found to open another company', async () => {
    const connectionId = await addTestConnection(warehouse);
    const runId = await addRun(warehouse, { connection: connectionId, status: 'succeeded' });
    const token = await readTokenMark(warehouse, connectionId);
    await refuseToken(warehouse, { connectionId, token });
    await noteSyncEnd(warehouse, { connectionId, runId, status: 'succeeded', pauseWhy: null });
    expect(await stateOf(connectionId)).toMatchObject({ paused_by: 'daybook', refused_token: token });
  });

  test('leaves a pause made by a person in place', async () => {
    const connectionId = await addTestConnection(warehouse);
    await pauseConnection(warehouse, { connectionId, why: 'month end' });
    const runId = await addRun(warehouse, { connection: connectionId, status: 'succeeded' });
    await noteSyncEnd(warehouse, { connectionId, runId, status: 'succeeded', pauseWhy: null });
    expect(await stateOf(connectionId)).toMatchObject({ paused_by: 'person' });
  });
});

test('a stream without a stored result counts as not read, whatever the workflow remembers', async () => {
  const connectionId = await addTestConnection(warehouse);
  const runId = randomUUID();
  await begin(warehouse, { connectionId, runId });
  await warehouse.pool.query(
    `insert into sync.run_streams (run_id, connection_id, stream, status, pages) values ($1, $2, 'items', 'succeeded', 1)`,
    [runId, connectionId],
  );
  const outcomes = (['items', 'bills'] as const).map((stream) => ({ stream, state: 'done' as const }));
  expect(await finishRun(warehouse, { runId, outcomes, cancelled: false })).toEqual({
    status: 'partial',
    failure: 'That bills was read is not written in the warehouse, so it does not count. Run it again.',
  });
});

test('a month that a running prune computes is not stored for a re-added connection', async () => {
  const names = [await addTestConnection(warehouse), await addTestConnection(warehouse)].sort();
  const [first = '', other = ''] = names;
  for (const name of names)
    await addRun(warehouse, {
      connection: name,
      status: 'failed',
      streams: [{ stream: 'subscriptions', status: 'succeeded', type: '', failure: '' }],
    });
  // Another prune is about to write the first one's month.
  const session = new pg.Client({ connectionString: url });
  await session.connect();
  await session.query('begin');
  await session.query(
    `insert into history.kept_stream_months (connection_id, stream, month, outcome)
     select connection_id, stream, month, 'incomplete' from history.stream_months where connection_id = $1`,
    [first],
  );
  const pruning = keepStreamMonths((work) => inTransaction(warehouse.pool, work));
  await waitingSessions(url);
  const replacing = replace(other);
  await waitingSessions(url, 2);
  await session.query('rollback');
  await session.end();
  await Promise.all([pruning, replacing]);
  const months = 'select stream from history.stream_months where connection_id = $1';
  expect(await rows(warehouse, months, [first])).toHaveLength(1);
  expect(await rows(warehouse, months, [other])).toEqual([]);
});

test('remove --keep-data of a connection without records completes when killed and run again', async () => {
  const connectionId = await addTestConnection(warehouse);
  await beginRemoval(warehouse, { connectionId, keepData: true });
  expect(await removeConnection(warehouse, { connectionId, keepData: true })).toEqual({
    removed: 'connection',
    kept: undefined,
  });
});

test('a manifest does not name a connection that is being removed', async () => {
  const connectionId = await connectionWithEverything(warehouse);
  const client = await warehouse.pool.connect();
  try {
    const named = async (): Promise<boolean> =>
      (await readContext(client)).watermarks.some((one) => one.connection_id === connectionId);
    expect(await named()).toBe(true);
    await beginRemoval(warehouse, { connectionId, keepData: false });
    expect(await named()).toBe(false);
  } finally {
    client.release();
  }
});

const companyX = { id: 'company X', orgId: 'org', platform: null };
const companyY = { id: 'company Y', orgId: 'org', platform: null };

/** Removes a connection, and adds one of another company under its name. */
async function replace(connectionId: string): Promise<void> {
  await removeConnection(warehouse, { connectionId, keepData: false });
  await addConnection(warehouse, testKey, {
    connectionId,
    apiAddress: testApiAddress,
    token: `of another company: ${connectionId}`,
    expandPlatformData: false,
  });
}

/** A run that makes requests with the current token. */
async function asking(connectionId: string): Promise<{ connectionId: string; runId: string; token: string }> {
  const runId = randomUUID();
  await begin(warehouse, { connectionId, runId });
  return { connectionId, runId, token: await readTokenMark(warehouse, connectionId) };
}

/** Everything known of its records. */
async function heldBy(connectionId: string): Promise<Row[][]> {
  const tables = ['finance.bills', 'history.record_versions', 'sync.tombstones', 'sync.quarantine'];
  return Promise.all(
    tables.map((table) => rows(warehouse, `select * from ${table} where connection_id = $1`, [connectionId])),
  );
}

function pinnedOf(connectionId: string): Promise<Row> {
  return row(warehouse, 'select service_connection_id from sync.connections where connection_id = $1', [
    connectionId,
  ]);
}

function stateOf(connectionId: string): Promise<Row> {
  return row(
    warehouse,
    'select failures, paused_by, refused_token from sync.connections where connection_id = $1',
    [connectionId],
  );
}
