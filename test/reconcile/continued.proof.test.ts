import { expect, test } from 'vitest';
import { workflowIds } from '../../temporal/workflow-ids.ts';
import { eventually } from '../support/eventually.ts';
import { createInstallation } from '../support/installation.ts';
import {
  awaitReconcile,
  readProofs,
  reconcile,
  shownDeletions,
  startReconcile,
} from '../support/reconcile.ts';
import { rows } from '../support/rows.ts';
import { sync } from '../support/sync.ts';
import { startTemporalWith } from '../support/temporal-with.ts';

// Temporal suggests a new execution after 4,096 events; with a lower limit the test need not read for hours.
const temporalAddress = await startTemporalWith('limit.historyCount.suggestContinueAsNew=60');
const installation = await createInstallation({ temporalAddress });
const { admin, warehouse, client } = installation;
await installation.startWorker();

test('a reconcile with a long history continues in a new execution as the same run with the same proof', async () => {
  const connection = await installation.connect({ records: 700 });
  await sync(installation, connection);
  // All items, a number that always needs approval and is found long before the bills are read.
  const items = await rows(warehouse, 'select id from finance.items where connection_id = $1', [connection]);
  await admin.execute(
    ...items.map(({ id }) => ({
      kind: 'delete' as const,
      connection,
      resource: 'items' as const,
      id: String(id),
      event: false,
    })),
  );
  const [bill] = await rows(warehouse, 'select id from finance.bills where connection_id = $1', [connection]);
  await admin.execute({ kind: 'delete', connection, resource: 'bills', id: String(bill?.id), event: false });
  await admin.configure({ maximumLimit: 2 });
  const handle = await startReconcile(installation, connection);
  const { run, failure } = await awaitReconcile(installation, handle, handle.firstExecutionRunId);
  expect(failure).toBeUndefined();
  expect(await countExecutions(connection)).toBeGreaterThan(1);
  expect(run).toMatchObject({
    run_id: handle.firstExecutionRunId,
    status: 'partial',
    failure: expect.stringMatching(/^28 of 28 items are gone at the source/) as string,
  });
  const proofs = await readProofs(installation, run);
  for (const [stream, proof] of Object.entries(proofs)) {
    expect(proof?.equal, stream).toBe(stream !== 'items');
    // The books of a connection are random: there may be no refund among some 60 expenses.
    if (stream !== 'refunds') expect(Object.keys(proof?.warehouse ?? {}), stream).not.toEqual([]);
  }
  // The question is asked although another execution found the deletions.
  expect((await client.workflow.getHandle(workflowIds.approval(connection)).describe()).status.name).toBe(
    'RUNNING',
  );
  const { differences } = await installation.compare(connection);
  expect(differences.filter((difference) => !difference.startsWith('items '))).toEqual([]);
});

test('an approval survives a continue-as-new: approved deletions are not asked about again, and the others still are', async () => {
  const connection = await installation.connect({ records: 700 });
  await sync(installation, connection);
  await admin.configure({});
  for (const [resource, limit] of [
    ['bills', 100],
    ['items', 700],
  ] as const) {
    const gone = await rows(
      warehouse,
      `select id from finance.${resource} where connection_id = $1 order by id limit ${limit}`,
      [connection],
    );
    await admin.execute(
      ...gone.map(({ id }) => ({
        kind: 'delete' as const,
        connection,
        resource,
        id: String(id),
        event: false,
      })),
    );
  }
  await reconcile(installation, connection);
  const { bills, items } = await shownDeletions(installation, connection);
  if (bills === undefined || items === undefined) expect.fail();
  const before = await countExecutions(connection);
  await admin.configure({ maximumLimit: 2 });
  const resources = ['bills', 'expenses', 'bill_credit_memos', 'customers', 'subscriptions'];
  const handle = await startReconcile(installation, connection, { resources, approved: { bills } });
  const { run } = await awaitReconcile(installation, handle, handle.firstExecutionRunId);
  expect(run.status).toBe('succeeded');
  expect(await countExecutions(connection)).toBeGreaterThan(before + 1);
  await eventually(async () => {
    const { currentDetails } = await client.workflow
      .getHandle(workflowIds.approval(connection))
      .query<{ currentDetails?: string }>('__temporal_workflow_metadata');
    expect(currentDetails).toContain(`| items | ${items.records} |`);
    expect(currentDetails).not.toContain('| bills |');
    return true;
  });
});

async function countExecutions(connection: string): Promise<number> {
  let executions = 0;
  for await (const execution of client.workflow.list()) {
    if (execution.workflowId === `reconcile/${connection}`) executions += 1;
  }
  return executions;
}
