import { afterEach, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { createInstallation } from '../support/installation.ts';
import { proofTest, some } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';
import { readRunByTemporalId, startSync, awaitSync as endOfSync, statusesOf, sync } from '../support/sync.ts';
import { backfill, endOf, startBackfill, type BackfillHandle } from './run-backfill.ts';

const installation = await createInstallation();
const { warehouse, admin } = installation;
let worker = await installation.startWorker();

const twelveWindows = { from: '2020-01-01', to: '2032-01-01', windowMilliseconds: 366 * 86_400_000 };

afterEach(async () => {
  await admin.clearFaults();
  await admin.configure({});
});

test.for(
  some([
    ['cancelled', (handle: BackfillHandle) => handle.cancel()],
    ['terminated', (handle: BackfillHandle) => handle.terminate('test')],
  ] as const),
)('a backfill that was %s continues with the remaining windows', async ([how, end]) => {
  const connection = await slowConnection();
  const handle = await startBackfill(installation, { connection, ...twelveWindows, resources: ['bills'] });
  await untilWindowsLeft(connection, 8);
  await end(handle);
  await handle.result().catch(() => undefined);
  await admin.clearFaults();
  const left = await windowsLeft(connection);
  expect(left).toBeLessThanOrEqual(8);
  expect(left).toBeGreaterThan(0);

  await admin.clearRequests();
  const { run } = await backfill(installation, { connection, ...twelveWindows, resources: ['bills'] });
  expect(run.status).toBe('succeeded');
  expect(await windowsLeft(connection)).toBe(0);
  // The window in hand may have landed all the same.
  expect([left, left - 1]).toContain((await windowsAskedFor(connection)).length);
  const first = await readRunByTemporalId(installation, handle.firstExecutionRunId);
  const status = how === 'cancelled' ? 'cancelled' : 'interrupted';
  expect([first.status, statusesOf(first).bills]).toEqual([status, status]);
  expect((await installation.compare(connection)).differences).toEqual([]);
});

proofTest('a backfill whose worker was killed continues after its last committed page', async () => {
  const connection = await slowConnection();
  const handle = await startBackfill(installation, { connection, ...twelveWindows, resources: ['bills'] });
  await untilWindowsLeft(connection, 8);
  await worker.stop('SIGKILL');
  await admin.clearFaults();
  worker = await installation.startWorker();
  const { run, failure } = await endOf(installation, handle);
  expect(failure).toBeUndefined();
  expect(run.status).toBe('succeeded');
  // The window in hand continues from its page, and no completed window is read again.
  expect((await windowsAskedFor(connection)).length).toBe(12);
  expect(await windowsLeft(connection)).toBe(0);
});

proofTest('a backfill alongside a running sync is exact, and so is the sync', async () => {
  const connection = await installation.connect({ records: 600 });
  await admin.configure({ maximumLimit: 20 });
  const first = await startSync(installation, connection);
  const handle = await startBackfill(installation, { connection, ...twelveWindows });
  await admin.activity({ connection, seed: 7, changes: 20, touches: 20 });
  const [synced, filled] = await Promise.all([
    endOfSync(installation, first, first.firstExecutionRunId),
    endOf(installation, handle),
  ]);
  expect([synced.run.status, filled.run.status]).toEqual(['succeeded', 'succeeded']);
  await sync(installation, connection);
  expect((await installation.compare(connection)).differences).toEqual([]);
});

test('a backfill before the first sync sets no watermark, so that the sync reads everything', async () => {
  const connection = await installation.connect();
  await backfill(installation, { connection, ...twelveWindows });
  expect(
    await rows(warehouse, 'select from sync.streams where connection_id = $1 and watermark is not null', [
      connection,
    ]),
  ).toEqual([]);
  await sync(installation, connection);
  expect((await installation.compare(connection)).differences).toEqual([]);
});

proofTest(
  'a backfill with other dates, windows, or resources leaves the windows of an unfinished one alone',
  async () => {
    const connection = await slowConnection();
    const handle = await startBackfill(installation, { connection, ...twelveWindows, resources: ['bills'] });
    await untilWindowsLeft(connection, 8);
    await handle.cancel();
    await handle.result().catch(() => undefined);
    await admin.clearFaults();
    const left = await windowsLeft(connection);
    for (const other of [
      { ...twelveWindows, resources: ['customers'] },
      { ...twelveWindows, to: '2031-01-01', resources: ['bills'] },
      { ...twelveWindows, windowMilliseconds: 365 * 86_400_000, resources: ['bills'] },
    ]) {
      expect((await backfill(installation, { connection, ...other })).run.status).toBe('succeeded');
    }
    // The window in hand may have landed all the same.
    expect([left, left - 1]).toContain(await windowsLeft(connection));
  },
);

/** A synced connection whose bills take a second for each window. */
async function slowConnection(): Promise<string> {
  const connection = await installation.connect();
  await sync(installation, connection);
  await admin.addFault({
    match: { connection, path: '/accounting/bills' },
    fault: { kind: 'slow', ms: 400 },
  });
  await admin.clearRequests();
  return connection;
}

async function untilWindowsLeft(connection: string, left: number): Promise<void> {
  await eventually(async () => {
    const found = await windowsLeft(connection);
    return found > 0 && found <= left ? true : undefined;
  });
}

async function windowsLeft(connection: string): Promise<number> {
  return (
    await rows(warehouse, `select from sync.passes where connection_id = $1 and kind = 'backfill'`, [
      connection,
    ])
  ).length;
}

/** The windows in which bills were requested, without repeats. */
async function windowsAskedFor(connection: string): Promise<string[]> {
  const requests = (await admin.requests()).filter((request) => request.connection === connection);
  return [
    ...new Set(requests.map(({ query }) => new URLSearchParams(query).get('updated_at_min') ?? 'no window')),
  ];
}
