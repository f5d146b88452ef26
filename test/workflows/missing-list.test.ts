import { WorkflowFailedError } from '@temporalio/client';
import { afterEach, describe, expect, test } from 'vitest';
import { judgeAlerts } from '../../warehouse/alerts/judge-alerts.ts';
import { readOpenAlerts } from '../../warehouse/alerts/read-alerts.ts';
import { readStatus, type StreamStatus } from '../../warehouse/connections/read-status.ts';
import type { RunRead } from '../../warehouse/runs/read-run.ts';
import { backfill } from '../backfill/run-backfill.ts';
import { createInstallation } from '../support/installation.ts';
import { proofTest } from '../support/proof-test.ts';
import { reconcile } from '../support/reconcile.ts';
import { rows } from '../support/rows.ts';
import { statusesOf, sync } from '../support/sync.ts';

const installation = await createInstallation({ env: { DAYBOOK_GIVE_UP_AFTER: '2s' } });
const { admin, warehouse } = installation;
await installation.startWorker();

afterEach(() => admin.clearFaults());

const itemsPath = '/accounting/items';
const notFound = { kind: 'status', status: 404, code: 'NOT_FOUND' } as const;

describe('a list that returned pages before and answers 404 now', () => {
  proofTest('is requested again within the run', async () => {
    const connection = await synced();
    await admin.activity({ connection, changes: 2 });
    await admin.addFault({ match: { connection, path: itemsPath }, times: 1, fault: notFound });
    const { run, failure } = await sync(installation, connection);
    expect(failure).toBeUndefined();
    expect(statusesOf(run).items).toBe('succeeded');
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  test('is given up, requested again by the next run, and reported as missing and stale', async () => {
    const connection = await synced();
    await warehouse.pool.query(
      `update sync.connections set sync_every = '1 second' where connection_id = $1`,
      [connection],
    );
    await loseItems(connection);
    const { run, failure } = await sync(installation, connection);
    expect(run.status).toBe('partial');
    expect(statusesOf(run)).toMatchObject({ items: 'failed', bills: 'succeeded', events: 'succeeded' });
    expect(findFailure(run, 'items')).toMatchObject({
      failure_type: 'GaveUp',
      failure: expect.stringMatching(/404.*returned pages before.*7 days/) as string,
    });
    expect(failure).toBeInstanceOf(WorkflowFailedError);
    const [status] = await readStatus(warehouse, connection);
    expect(status?.stale).toBe(true);
    expect(findStream(status?.streams, 'items').state).toBe('missing');
    const statusOutput = await installation.run(['status', connection]);
    expect(statusOutput.code).toBe(3);
    expect(statusOutput.stdout).toMatch(/items.*returns 404/);

    await admin.clearRequests();
    await sync(installation, connection);
    expect(await countRequests(connection)).toBeGreaterThan(0);
    await admin.clearFaults();
    expect((await sync(installation, connection)).run.status).toBe('succeeded');
    const [healed] = await readStatus(warehouse, connection);
    expect(findStream(healed?.streams, 'items').state).toBe('complete');
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  proofTest('loses nothing if this happens during the first sync, after a page', async () => {
    const connection = await installation.connect({ records: 1_500 });
    await admin.configure({ maximumLimit: 20 });
    await admin.addFault({ match: { connection, path: itemsPath }, after: 2, times: 1, fault: notFound });
    const { run } = await sync(installation, connection);
    await admin.configure({});
    expect(statusesOf(run).items).toBe('succeeded');
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  test('makes a reconcile partial, or failed if it is the only list', async () => {
    const connection = await synced();
    await loseItems(connection);
    const { run } = await reconcile(installation, connection);
    expect(run.status).toBe('partial');
    expect(findFailure(run, 'items')).toMatchObject({ status: 'failed', failure_type: 'GaveUp' });
    const only = await reconcile(installation, connection, { resources: ['items'] });
    expect(only.run.status).toBe('failed');
  });

  proofTest('keeps the windows of its backfill for the next backfill', async () => {
    const connection = await synced();
    const days = { from: '2011-03-01', to: '2011-06-01' };
    await loseItems(connection);
    const { run } = await backfill(installation, { connection, ...days });
    expect(statusesOf(run)).toMatchObject({ items: 'failed', bills: 'succeeded' });
    expect(await windowsLeft(connection)).toEqual({ items: 4 });
    await admin.clearFaults();
    expect((await backfill(installation, { connection, ...days })).run.status).toBe('succeeded');
    expect(await windowsLeft(connection)).toEqual({});
  });

  test('becomes unsupported, with an alert, after 7 days, but only while other lists answer', async () => {
    const connection = await synced();
    await loseItems(connection);
    await sync(installation, connection);
    await missingFor(connection, '7 days 1 hour');
    await warehouse.pool.query(
      `update sync.runs set started_at = started_at - interval '2 days' where connection_id = $1`,
      [connection],
    );
    await sync(installation, connection, { resources: ['items'] });
    expect(findStream(await readStreams(connection), 'items').state).toBe('missing');
    await missingFor(connection, '7 days 1 hour');
    const { run } = await sync(installation, connection);
    expect(statusesOf(run).items).toBe('unsupported');
    await judgeAlerts(warehouse, { pausedElsewhere: [] });
    expect(await findAlerts(connection)).toMatchObject([
      { kind: 'unsupported', message: expect.stringContaining('items') as string },
    ]);
    const reconciled = await reconcile(installation, connection);
    expect(reconciled.run.status).toBe('partial');
    expect(findFailure(reconciled.run, 'items')).toMatchObject({
      status: 'failed',
      failure_type: 'NotListed',
    });

    await admin.clearRequests();
    expect((await sync(installation, connection)).run.status).toBe('succeeded');
    expect(await countRequests(connection)).toBe(0);
    await warehouse.pool.query(
      `update sync.streams set capability_checked_at = capability_checked_at - interval '25 hours',
         missing_since = missing_since - interval '25 hours', missing_at = missing_at - interval '25 hours'
       where connection_id = $1`,
      [connection],
    );
    await admin.clearFaults();
    const healed = await sync(installation, connection);
    expect(statusesOf(healed.run).items).toBe('succeeded');
    await reconcile(installation, connection);
    await judgeAlerts(warehouse, { pausedElsewhere: [] });
    expect(await findAlerts(connection)).toEqual([]);
  });

  proofTest('stays failed after 7 days if it also gave another answer', async () => {
    const connection = await synced();
    await loseItems(connection);
    await sync(installation, connection);
    await missingFor(connection, '7 days 1 hour');
    await admin.clearFaults();
    await admin.addFault({
      match: { connection, path: itemsPath },
      times: 1,
      fault: { kind: 'status', status: 500 },
    });
    await admin.addFault({ match: { connection, path: itemsPath }, fault: notFound });
    const { run } = await sync(installation, connection);
    expect(statusesOf(run).items).toBe('failed');
  });
});

describe('a company whose lists all answer 404', () => {
  test('is asked again by the next run if it was never read', async () => {
    const connection = await installation.connect();
    await admin.addFault({ match: { connection }, fault: notFound });
    expect((await sync(installation, connection)).run.status).toBe('failed');
    await admin.clearFaults();
    const { run } = await sync(installation, connection);
    expect(run.status).toBe('succeeded');
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  proofTest('has no unsupported list if it was read before, and is asked again by the next run', async () => {
    const connection = await synced();
    await admin.activity({ connection, changes: 3 });
    await admin.addFault({ match: { connection }, fault: notFound });
    const { run } = await sync(installation, connection);
    expect(run.status).toBe('failed');
    expect(Object.values(statusesOf(run))).not.toContain('unsupported');
    await admin.clearFaults();
    expect((await sync(installation, connection)).run.status).toBe('succeeded');
    expect((await installation.compare(connection)).differences).toEqual([]);
  });
});

proofTest(
  'a reconcile is partial if a resource with rows cannot be listed, even if its list never returned a page',
  async () => {
    const connection = await installation.connect({ platform: 'XERO' });
    expect((await sync(installation, connection)).run.status).toBe('succeeded');
    expect((await reconcile(installation, connection)).run.status).toBe('succeeded');
    await warehouse.pool.query(
      `insert into finance.subscriptions (connection_id, id, _run_id, _first_seen_at, _changed_at, _content_hash)
     values ($1, 'kept', 'r', now(), now(), '')`,
      [connection],
    );
    const { run } = await reconcile(installation, connection);
    expect(run.status).toBe('partial');
    expect(findFailure(run, 'subscriptions')).toMatchObject({ status: 'failed', failure_type: 'NotListed' });
  },
);

async function synced(): Promise<string> {
  const connection = await installation.connect();
  expect((await sync(installation, connection)).run.status).toBe('succeeded');
  return connection;
}

async function loseItems(connection: string): Promise<void> {
  await admin.addFault({ match: { connection, path: itemsPath }, fault: notFound });
}

async function missingFor(connection: string, time: string): Promise<void> {
  await warehouse.pool.query(
    `update sync.streams set missing_since = now() - $2::interval where connection_id = $1 and stream = 'items'`,
    [connection, time],
  );
}

async function countRequests(connection: string): Promise<number> {
  const asked = await admin.requests();
  return asked.filter((one) => one.connection === connection && one.path === itemsPath).length;
}

async function readStreams(connection: string): Promise<StreamStatus[]> {
  const [status] = await readStatus(warehouse, connection);
  return status?.streams ?? [];
}

function findStream(streams: readonly StreamStatus[] | undefined, name: string): StreamStatus {
  const found = streams?.find(({ stream }) => stream === name);
  if (found === undefined) throw new Error(`There is no stream ${name}.`);
  return found;
}

function findFailure(run: RunRead, name: string): unknown {
  return run.streams.find(({ stream }) => stream === name);
}

async function findAlerts(connection: string): Promise<unknown[]> {
  return (await readOpenAlerts(warehouse)).filter(({ connection_id }) => connection_id === connection);
}

async function windowsLeft(connection: string): Promise<Record<string, number>> {
  const left = await rows(
    warehouse,
    `select stream, count(*)::int as windows from sync.passes
     where connection_id = $1 and kind = 'backfill' group by stream`,
    [connection],
  );
  return Object.fromEntries(left.map(({ stream, windows }) => [String(stream), Number(windows)]));
}
