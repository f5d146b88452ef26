import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { afterEach, expect, test } from 'vitest';
import { startBackfill } from '../backfill/run-backfill.ts';
import { untilEvents } from '../rerun/until-events.ts';
import { createInstallation } from '../support/installation.ts';
import { untilPages } from '../support/sync-progress.ts';
import { proofTest } from '../support/proof-test.ts';
import { startReconcile } from '../support/reconcile.ts';
import { resetTo } from '../support/reset.ts';
import { rows } from '../support/rows.ts';
import { awaitSync, readRunByTemporalId, startSync, statusesOf, sync } from '../support/sync.ts';

const installation = await createInstallation();
const { warehouse, admin } = installation;
await installation.startWorker();

afterEach(async () => {
  await admin.clearFaults();
  await admin.configure({});
});

test('a sync that is terminated and started again leaves an exact copy, and its first run is interrupted', async () => {
  const connection = await longConnection();
  const first = await startSync(installation, connection);
  await untilPages(installation, { connection, pages: 3 });
  await first.terminate('test');
  await admin.clearFaults();
  const { run } = await sync(installation, connection);
  expect(run.status).toBe('succeeded');
  const interrupted = await readRunByTemporalId(installation, first.firstExecutionRunId);
  expect(interrupted.status).toBe('interrupted');
  expect(statusesOf(interrupted).bills).toBe('interrupted');
  expect((await installation.compare(connection)).differences).toEqual([]);
});

test('a cancelled sync is recorded as cancelled, and the next sync completes its work', async () => {
  const connection = await longConnection();
  const handle = await startSync(installation, connection);
  await untilPages(installation, { connection, pages: 2 });
  await handle.cancel();
  const { run, failure } = await awaitSync(installation, handle, handle.firstExecutionRunId);
  expect(failure).toBeDefined();
  expect(run.status).toBe('cancelled');
  expect(statusesOf(run).bills).toBe('cancelled');
  await admin.clearFaults();
  expect((await sync(installation, connection)).run.status).toBe('succeeded');
  expect((await installation.compare(connection)).differences).toEqual([]);
});

test('a sync that is started several times at once is one run', async () => {
  const connection = await longConnection();
  const starts = await Promise.allSettled([1, 2, 3].map(() => startSync(installation, connection)));
  const [started] = starts.filter((start) => start.status === 'fulfilled');
  const refused = starts.filter((start) => start.status === 'rejected');
  expect(refused.map(({ reason }) => (reason as Error).name)).toEqual(
    Array(2).fill(WorkflowExecutionAlreadyStartedError.name),
  );
  await admin.clearFaults();
  await started?.value.result();
  expect(await readRunStatuses(connection)).toEqual(['succeeded']);
  expect((await installation.compare(connection)).differences).toEqual([]);
});

proofTest.for([
  ['its first task', 0],
  ['the task before its last', -2],
] as const)('a finished sync that is reset to %s leaves the tables the same', async ([, number]) => {
  const connection = await installation.connect();
  const { handle } = await sync(installation, connection);
  const again = await resetTo(installation, handle, number);
  const { run, failure } = await awaitSync(installation, again, again.temporalRunId);
  expect(failure).toBeUndefined();
  expect(run.status).toBe('succeeded');
  expect((await installation.compare(connection)).differences).toEqual([]);
  expect(await readRunStatuses(connection)).toEqual(['succeeded', 'succeeded']);
});

test('a finished sync that is reset to its last task does nothing, and gets no new run', async () => {
  const connection = await installation.connect();
  const { handle } = await sync(installation, connection);
  const again = await resetTo(installation, handle, -1);
  await again.result();
  expect((await installation.compare(connection)).differences).toEqual([]);
  expect(await readRunStatuses(connection)).toEqual(['succeeded']);
});

test('a failed sync succeeds if it is reset to its first task after its cause is gone', async () => {
  const connection = await installation.connect();
  await admin.execute({
    kind: 'refuse',
    connection,
    refusal: { status: 401, code: 'CONNECTION_DISABLED' },
  });
  const failed = await sync(installation, connection);
  expect(failed.run.status).toBe('failed');
  await admin.execute({ kind: 'refuse', connection, refusal: null });
  const again = await resetTo(installation, failed.handle, 0);
  const { run } = await awaitSync(installation, again, again.temporalRunId);
  expect(run.status).toBe('succeeded');
  expect(run.failure).toBeNull();
  expect((await installation.compare(connection)).differences).toEqual([]);
});

test('a failed sync that is reset after some lists have failed, once the cause is gone, reads the other lists', async () => {
  const connection = await installation.connect();
  const refusal = { status: 401, code: 'CONNECTION_DISABLED' };
  await admin.execute({ kind: 'refuse', connection, refusal });
  await admin.addFault({ match: { connection, path: '/subscriptions' }, fault: { kind: 'slow', ms: 1_500 } });
  const failed = await sync(installation, connection);
  await admin.execute({ kind: 'refuse', connection, refusal: null });
  const again = await resetTo(installation, failed.handle, 2);
  await again.result().catch(() => undefined);
  const statuses = statusesOf(await readRunByTemporalId(installation, failed.run.run_id));
  expect(statuses.subscriptions).toBe('succeeded');
  // A list that failed before that task is not requested again.
  expect(Object.values(statuses)).toContain('failed');
});

proofTest(
  'a failed sync that is reset to the task before its last fails again with the same message',
  async () => {
    const connection = await installation.connect();
    await admin.execute({
      kind: 'refuse',
      connection,
      refusal: { status: 401, code: 'CONNECTION_DISABLED' },
    });
    const failed = await sync(installation, connection);
    const again = await resetTo(installation, failed.handle, -2);
    const { run, failure } = await awaitSync(installation, again, again.temporalRunId);
    expect(failure).toBeDefined();
    expect(run).toMatchObject({ status: 'failed', failure: failed.run.failure });
  },
);

test('a running sync that is reset continues in the new execution, and leaves an exact copy', async () => {
  const connection = await longConnection();
  const handle = await startSync(installation, connection);
  await untilPages(installation, { connection, pages: 2 });
  const again = await resetTo(installation, handle, 0);
  await admin.clearFaults();
  const { run } = await awaitSync(installation, again, again.temporalRunId);
  expect(run.status).toBe('succeeded');
  expect((await readRunByTemporalId(installation, handle.firstExecutionRunId)).status).toBe('interrupted');
  expect((await installation.compare(connection)).differences).toEqual([]);
});

test.each([
  ['backfill', (connection: string) => startBackfill(installation, { connection, ...decades })],
  ['reconcile', (connection: string) => startReconcile(installation, connection)],
])(
  'a running %s that is reset continues in the new execution, with the lists under way, and leaves an exact copy',
  async (_, start) => {
    const connection = await installation.connect();
    await sync(installation, connection);
    await admin.addFault({
      match: { connection, path: '/accounting/bills' },
      fault: { kind: 'slow', ms: 400 },
    });
    const handle = await start(connection);
    // Other lists are done. The execution before still requests the bills; what follows belongs to the new one.
    await untilEvents(installation, handle, 25);
    const again = await resetTo(installation, handle, -1);
    await again.result();
    expect((await readRunByTemporalId(installation, again.temporalRunId)).status).toBe('succeeded');
    expect((await readRunByTemporalId(installation, handle.firstExecutionRunId)).status).toBe('interrupted');
    expect((await installation.compare(connection)).differences).toEqual([]);
  },
);

/** All records that the sandbox makes up, in a few windows. */
const decades = { from: '2010-01-01', to: '2030-01-01', windowMilliseconds: 1_500 * 86_400_000 };

/** A connection whose bills take a few seconds to read. */
async function longConnection(): Promise<string> {
  const connection = await installation.connect();
  await admin.configure({ maximumLimit: 5 });
  await admin.addFault({
    match: { connection, path: '/accounting/bills' },
    fault: { kind: 'slow', ms: 200 },
  });
  return connection;
}

/** The statuses of all runs of a connection, oldest first. */
async function readRunStatuses(connection: string): Promise<unknown[]> {
  const runs = await rows(
    warehouse,
    'select status from sync.runs where connection_id = $1 order by started_at',
    [connection],
  );
  return runs.map(({ status }) => status);
}
