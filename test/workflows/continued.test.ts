import type { Workflow, WorkflowHandle } from '@temporalio/client';
import { afterEach, expect, test } from 'vitest';
import { startBackfill } from '../backfill/run-backfill.ts';
import { untilEvents } from '../rerun/until-events.ts';
import { eventually } from '../support/eventually.ts';
import { createInstallation } from '../support/installation.ts';
import { proofTest, some } from '../support/proof-test.ts';
import { awaitReconcile, startReconcile } from '../support/reconcile.ts';
import { resetTo } from '../support/reset.ts';
import { rows } from '../support/rows.ts';
import { startSync, awaitSync, readRunByTemporalId, sync } from '../support/sync.ts';
import { startTemporalWith } from '../support/temporal-with.ts';

// Temporal suggests a new execution after 4,096 events; with a lower limit the test need not read for hours.
const temporalAddress = await startTemporalWith('limit.historyCount.suggestContinueAsNew=30');
const installation = await createInstallation({ temporalAddress });
const { admin, warehouse, client } = installation;
await installation.startWorker();

afterEach(async () => {
  await admin.clearFaults();
  await admin.configure({});
});

test('a sync with a long history continues in a new execution, as the same run', async () => {
  const connection = await installation.connect({ records: 600 });
  await admin.configure({ maximumLimit: 3 });
  const handle = await startSync(installation, connection);
  const { run, failure } = await awaitSync(installation, handle, handle.firstExecutionRunId);
  expect(failure).toBeUndefined();
  expect(run.status).toBe('succeeded');
  expect(run.run_id).toBe(handle.firstExecutionRunId);
  expect(
    await rows(warehouse, 'select status from sync.runs where connection_id = $1', [connection]),
  ).toEqual([{ status: 'succeeded' }]);
  expect(await countExecutions(`sync/${connection}`)).toBeGreaterThan(1);
  expect((await installation.compare(connection)).differences).toEqual([]);
});

test('a reconcile whose fetches are told to pause again and again continues in a new execution, as the same run', async () => {
  const connection = await installation.connect({ records: 100 });
  await sync(installation, connection);
  const [bill] = await rows(warehouse, 'select id from finance.bills where connection_id = $1', [connection]);
  await admin.execute({ kind: 'delete', connection, resource: 'bills', id: String(bill?.id), event: false });
  const pause = { kind: 'status' as const, status: 429, retryAfter: '1' };
  await admin.addFault({ match: { connection, path: '/accounting/bills/' }, fault: pause });
  // Before it fetches again, it requests one record of another list.
  await admin.addFault({ match: { connection, query: 'limit=1&' }, fault: pause });
  const handle = await startReconcile(installation, connection, { resources: ['bills'] });
  await eventually(async () => {
    expect(await countExecutions(`reconcile/${connection}`)).toBeGreaterThan(2);
    return true;
  }, 120);
  await admin.clearFaults();
  const { run, failure } = await awaitReconcile(installation, handle, handle.firstExecutionRunId);
  expect(failure).toBeUndefined();
  expect(run).toMatchObject({ run_id: handle.firstExecutionRunId, status: 'succeeded' });
  expect((await installation.compare(connection)).differences).toEqual([]);
});

const kinds = [
  ['sync', (connection: string) => startSync(installation, connection)],
  ['reconcile', (connection: string) => startReconcile(installation, connection)],
  ['backfill', (connection: string) => startBackfill(installation, { connection, ...decades })],
] as const;

test.each(some(kinds, 2))(
  'a %s that is reset to the first task of its last execution is a run of its own that reads later changes',
  async (kind, start) => {
    const { connection, handle, ended } = await continued(kind, start);
    const [bill] = await rows(warehouse, 'select id from finance.bills where connection_id = $1', [
      connection,
    ]);
    const change = { kind: 'change' as const, connection, resource: 'bills' as const, id: String(bill?.id) };
    await admin.execute({ ...change, patch: '{"memo":"changed since"}' });
    const again = await resetTo(installation, handle, 0);
    await again.result();
    const run = await readRunByTemporalId(installation, again.temporalRunId);
    expect(run).toMatchObject({ run_id: again.temporalRunId, kind, status: 'succeeded' });
    expect((await installation.compare(connection)).differences).toEqual([]);
    expect(await readRunByTemporalId(installation, ended.run_id)).toEqual(ended);
  },
);

test.each(some(kinds, 2))(
  'a %s that is reset to a later task of its last execution succeeds as a run of its own, with an exact copy',
  async (kind, start) => {
    const { connection, handle, ended } = await continued(kind, start);
    for (const task of [-2, 3]) {
      const again = await resetTo(installation, handle, task);
      await again.result();
      const run = await readRunByTemporalId(installation, again.temporalRunId);
      expect(run).toMatchObject({ run_id: again.temporalRunId, kind, status: 'succeeded' });
    }
    expect((await installation.compare(connection)).differences).toEqual([]);
    expect(await readRunByTemporalId(installation, ended.run_id)).toEqual(ended);
  },
);

proofTest.for(kinds)(
  'a running %s that is reset in a later execution continues as a run of its own, and leaves an exact copy',
  async ([kind, start]) => {
    const connection = await installation.connect({ records: 600 });
    if (kind !== 'sync') await sync(installation, connection);
    await admin.configure({ maximumLimit: 3 });
    await admin.addFault({
      match: { connection, path: '/accounting/bills' },
      fault: { kind: 'slow', ms: 100 },
    });
    const handle = await start(connection);
    await eventually(async () => {
      expect((await handle.describe()).runId).not.toBe(handle.firstExecutionRunId);
      return true;
    }, 120);
    await untilEvents(installation, handle, 12);
    const again = await resetTo(installation, handle, -1);
    await admin.clearFaults();
    await again.result();
    const run = await readRunByTemporalId(installation, again.temporalRunId);
    expect(run).toMatchObject({ run_id: again.temporalRunId, kind, status: 'succeeded' });
    expect((await readRunByTemporalId(installation, handle.firstExecutionRunId)).status).toBe('interrupted');
    expect((await installation.compare(connection)).differences).toEqual([]);
  },
);

/** All records that the sandbox makes up, in more windows than fit in an activity. */
const decades = { from: '2010-01-01', to: '2030-01-01', windowMilliseconds: 60 * 86_400_000 };

/** A run of that kind that ended in its second execution or later. */
async function continued<T extends Workflow>(
  kind: string,
  start: (connection: string) => Promise<WorkflowHandle<T> & { firstExecutionRunId: string }>,
) {
  const connection = await installation.connect({ records: 600 });
  if (kind !== 'sync') await sync(installation, connection);
  await admin.configure({ maximumLimit: 3 });
  const handle = await start(connection);
  await handle.result();
  const ended = await readRunByTemporalId(installation, handle.firstExecutionRunId);
  expect(ended).toMatchObject({ run_id: handle.firstExecutionRunId, kind, status: 'succeeded' });
  expect(ended.temporal_run_id).not.toBe(ended.run_id);
  return { connection, handle, ended };
}

async function countExecutions(workflowId: string): Promise<number> {
  let executions = 0;
  for await (const execution of client.workflow.list()) {
    if (execution.workflowId === workflowId) executions += 1;
  }
  return executions;
}
