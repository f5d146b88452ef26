import { expect, test } from 'vitest';
import { adoptRun } from '../../warehouse/runs/adopt-run.ts';
import { beginRun } from '../../warehouse/runs/begin-run.ts';
import { beginTickRun } from '../../warehouse/runs/begin-tick-run.ts';
import { finishRun } from '../../warehouse/runs/finish-run.ts';
import { row, type Row } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse } = await createTestDatabase();

/** Begins a tick's run. Returns it with the input with which its workflow would end it. */
async function beginTick() {
  const connectionId = await addTestConnection(warehouse);
  const runId = `tick-of-${connectionId}`;
  const workflowId = `scheduled/sync/${connectionId}`;
  const kind = 'sync' as const;
  const run = { runId, connectionId, kind, workflowId, temporalRunId: runId, reason: 'schedule' };
  expect(await beginTickRun(warehouse, run)).toEqual({ state: 'open' });
  const end = { runId, outcomes: [], cancelled: true, heldBy: workflowId };
  const sync = { ...run, workflowId: `sync/${connectionId}`, temporalRunId: `sync-of-${connectionId}` };
  return { run, end, sync };
}

function stateOf(runId: string): Promise<Row> {
  return row(warehouse, 'select status, workflow_id from sync.runs where run_id = $1', [runId]);
}

test('a tick does not end a run that a sync has taken over', async () => {
  const { run, end, sync } = await beginTick();
  expect(await adoptRun(warehouse, sync)).toEqual({ hasRead: false });
  await expect(finishRun(warehouse, end)).rejects.toThrow('no longer that of the tick');
  expect(await stateOf(run.runId)).toEqual({ status: 'running', workflow_id: sync.workflowId });
});

test('a tick does not end a run that a later sync has interrupted', async () => {
  const { run, end, sync } = await beginTick();
  await beginRun(warehouse, { ...sync, runId: sync.temporalRunId });
  await expect(finishRun(warehouse, end)).rejects.toThrow('no longer that of the tick');
  expect(await stateOf(run.runId)).toEqual({ status: 'interrupted', workflow_id: run.workflowId });
});

test('a tick ends its own run', async () => {
  const { run, end } = await beginTick();
  await finishRun(warehouse, end);
  expect(await stateOf(run.runId)).toEqual({ status: 'cancelled', workflow_id: run.workflowId });
});
