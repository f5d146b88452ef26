import { expect, test } from 'vitest';
import { createInstallation } from '../support/installation.ts';
import { rows } from '../support/rows.ts';
import { startSync, endOf } from '../support/sync.ts';
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
  let executions = 0;
  for await (const execution of client.workflow.list()) {
    if (execution.workflowId === `sync/${connection}`) executions += 1;
  }
  expect(executions).toBeGreaterThan(1);
  expect((await installation.compare(connection)).differences).toEqual([]);
});
