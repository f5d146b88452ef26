import { afterEach, expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { blockWrites, waitingSessions } from '../support/blocked-session.ts';
import { createInstallation } from '../support/installation.ts';
import { untilPages } from '../support/sync-progress.ts';
import { proofTest, some } from '../support/proof-test.ts';
import {
  readFoundDiscrepancies,
  awaitReconcile,
  readProofs,
  reconcile,
  startReconcile,
  type ReconcileHandle,
} from '../support/reconcile.ts';
import { rows } from '../support/rows.ts';
import { readRunByTemporalId, sync } from '../support/sync.ts';

const installation = await createInstallation();
const { warehouse, admin, databaseUrl } = installation;
let worker = await installation.startWorker();

afterEach(async () => {
  await admin.clearFaults();
  await admin.configure({});
});

proofTest.for([
  ['what is absent is deleted', 'sync.tombstones'],
  ['absent records are found', 'sync.discrepancies'],
] as const)('a reconcile whose worker is killed while %s continues to the same end', async ([, table]) => {
  const connection = await withUnannouncedDeletions();
  const blocked = await blockWrites(databaseUrl, table);
  const handle = await startReconcile(installation, connection);
  await waitingSessions(databaseUrl);
  await worker.stop('SIGKILL');
  await blocked.letGo();
  worker = await installation.startWorker();
  await expectSameEnd(connection, handle);
});

proofTest('a reconcile whose worker is killed during the listing continues to the same end', async () => {
  const connection = await withUnannouncedDeletions();
  await slowDownBills(connection);
  const handle = await startReconcile(installation, connection);
  await untilPages(installation, { connection, pages: 3 });
  await worker.stop('SIGKILL');
  await admin.clearFaults();
  await admin.clearRequests();
  worker = await installation.startWorker();
  await expectSameEnd(connection, handle);
  const [first] = (await admin.requests()).filter(({ path }) => path === '/accounting/bills');
  expect(new URLSearchParams(first?.query).has('cursor')).toBe(true);
});

test.for(
  some([
    ['terminated', (handle: ReconcileHandle) => handle.terminate('test')],
    ['cancelled', (handle: ReconcileHandle) => handle.cancel()],
  ] as const),
)(
  'a reconcile that was %s deletes nothing from an unfinished list, and the next one lists it from the start',
  async ([how, end]) => {
    const connection = await withUnannouncedDeletions();
    await slowDownBills(connection);
    const handle = await startReconcile(installation, connection);
    await untilPages(installation, { connection, pages: 3 });
    await end(handle);
    await handle.result().catch(() => undefined);
    expect(await readBillTombstones(connection)).toEqual([]);
    await admin.clearFaults();
    await admin.clearRequests();
    const { run } = await reconcile(installation, connection);
    expect(run.status).toBe('succeeded');
    // Looks at all requests, because the ended execution may have had one under way.
    const asked = (await admin.requests()).filter(({ path }) => path === '/accounting/bills');
    expect(asked.some(({ query }) => !new URLSearchParams(query).has('cursor'))).toBe(true);
    const ended = await readRunByTemporalId(installation, handle.firstExecutionRunId);
    expect(ended.status).toBe(how === 'cancelled' ? 'cancelled' : 'interrupted');
    expect((await installation.compare(connection)).differences).toEqual([]);
  },
);

proofTest('a reconcile reaches the same end when the API fails for a while during the listing', async () => {
  const connection = await withUnannouncedDeletions();
  await admin.configure({ maximumLimit: 20 });
  await admin.addFault({
    match: { connection, path: '/accounting' },
    after: 6,
    times: 8,
    fault: { kind: 'status', status: 503 },
  });
  const handle = await startReconcile(installation, connection);
  await expectSameEnd(connection, handle);
});

proofTest('a refused cursor does not make records count as absent', async () => {
  const connection = await withUnannouncedDeletions();
  await admin.configure({ maximumLimit: 20 });
  await admin.addFault({
    match: { connection, path: '/accounting/bills', query: 'cursor' },
    after: 2,
    times: 2,
    fault: { kind: 'status', status: 400 },
  });
  const handle = await startReconcile(installation, connection);
  await expectSameEnd(connection, handle);
});

proofTest('a reconcile requested while another one runs joins it', async () => {
  const connection = await withUnannouncedDeletions();
  await slowDownBills(connection);
  const handle = await startReconcile(installation, connection);
  const again = await startReconcile(installation, connection);
  expect(again.firstExecutionRunId).toBe(handle.firstExecutionRunId);
  await admin.clearFaults();
  await expectSameEnd(connection, handle);
});

/** A synced connection in which a bill, a customer and three subscriptions were then deleted without an event. */
async function withUnannouncedDeletions(): Promise<string> {
  const connection = await installation.connect();
  await sync(installation, connection);
  const gone = [
    { resource: 'bills', count: 1 },
    { resource: 'customers', count: 1 },
    { resource: 'subscriptions', count: 3 },
  ] as const;
  for (const { resource, count } of gone) {
    const ids = await rows(
      warehouse,
      `select id from finance.${resource} where connection_id = $1 order by id limit ${count}`,
      [connection],
    );
    for (const { id } of ids)
      await admin.execute({ kind: 'delete', connection, resource, id: String(id), event: false });
  }
  return connection;
}

/** Makes reading the bills take a few seconds. */
async function slowDownBills(connection: string): Promise<void> {
  await admin.configure({ maximumLimit: 10 });
  await admin.addFault({
    match: { connection, path: '/accounting/bills' },
    fault: { kind: 'slow', ms: 200 },
  });
}

async function expectSameEnd(
  connection: string,
  handle: ReconcileHandle & { firstExecutionRunId: string },
): Promise<void> {
  const { run, failure } = await awaitReconcile(installation, handle, handle.firstExecutionRunId);
  expect(failure).toBeUndefined();
  expect(run).toMatchObject({ status: 'succeeded', failure: null });
  expect(run.streams.reduce((sum, { deleted }) => sum + deleted, 0)).toBe(5);
  for (const [stream, proof] of Object.entries(await readProofs(installation, run))) {
    expect(proof?.equal, stream).toBe(true);
    // The books of a connection are random: there may be no refund among some 60 expenses.
    if (stream !== 'refunds') expect(Object.keys(proof?.source ?? {}), stream).not.toEqual([]);
  }
  const found = await readFoundDiscrepancies(installation, connection);
  expect(found.map(({ kind, status }) => `${kind} ${status}`)).toEqual(Array(5).fill('extra repaired'));
  const deletions = await rows(
    warehouse,
    `select from history.record_versions where connection_id = $1 and op = 'delete'`,
    [connection],
  );
  expect(deletions).toHaveLength(5);
  await eventually(async () => {
    const left = await rows(warehouse, 'select from sync.passes where connection_id = $1', [connection]);
    return left.length === 0 ? true : undefined;
  });
  expect((await installation.compare(connection)).differences).toEqual([]);
}

function readBillTombstones(connection: string): Promise<unknown[]> {
  return rows(warehouse, `select from sync.tombstones where connection_id = $1 and resource = 'bills'`, [
    connection,
  ]);
}
