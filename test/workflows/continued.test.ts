import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { createInstallation } from '../support/installation.ts';
import { endOfReconcile, startReconcile } from '../support/reconcile.ts';
import { rows } from '../support/rows.ts';
import { startSync, endOf, sync } from '../support/sync.ts';
import { startTemporalWith } from '../support/temporal-with.ts';

// Temporal suggests a new execution after 4,096 events; with fewer a test need not read for hours.
const temporalAddress = await startTemporalWith('limit.historyCount.suggestContinueAsNew=30');
const installation = await createInstallation({ temporalAddress });
const { admin, warehouse, client } = installation;
await installation.startWorker();

test('a sync whose history grows long goes on in a new execution, as the same run', async () => {
  const connection = await installation.connect({ records: 600 });
  await admin.configure({ maximumLimit: 3 });
  const handle = await startSync(installation, connection);
  const { run, failure } = await endOf(installation, handle, handle.firstExecutionRunId);
  expect(failure).toBeUndefined();
  expect(run.status).toBe('succeeded');
  expect(run.run_id).toBe(handle.firstExecutionRunId);
  expect(
    await rows(warehouse, 'select status from sync.runs where connection_id = $1', [connection]),
  ).toEqual([{ status: 'succeeded' }]);
  expect(await executionsOf(`sync/${connection}`)).toBeGreaterThan(1);
  expect((await installation.compare(connection)).differences).toEqual([]);
});

test('a reconcile that is told to pause where it fetches, again and again, goes on in a new execution, as the same run', async () => {
  await admin.configure({});
  const connection = await installation.connect({ records: 100 });
  await sync(installation, connection);
  const [bill] = await rows(warehouse, 'select id from finance.bills where connection_id = $1', [connection]);
  await admin.execute({ kind: 'delete', connection, resource: 'bills', id: String(bill?.id), event: false });
  const pause = { kind: 'status' as const, status: 429, retryAfter: '1' };
  await admin.addFault({ match: { connection, path: '/accounting/bills/' }, fault: pause });
  // Before it fetches again, it asks another list for one record.
  await admin.addFault({ match: { connection, query: 'limit=1&' }, fault: pause });
  const handle = await startReconcile(installation, connection, { resources: ['bills'] });
  await eventually(async () => {
    expect(await executionsOf(`reconcile/${connection}`)).toBeGreaterThan(2);
    return true;
  }, 120);
  await admin.clearFaults();
  const { run, failure } = await endOfReconcile(installation, handle, handle.firstExecutionRunId);
  expect(failure).toBeUndefined();
  expect(run).toMatchObject({ run_id: handle.firstExecutionRunId, status: 'succeeded' });
  expect((await installation.compare(connection)).differences).toEqual([]);
});

async function executionsOf(workflowId: string): Promise<number> {
  let executions = 0;
  for await (const execution of client.workflow.list()) {
    if (execution.workflowId === workflowId) executions += 1;
  }
  return executions;
}
