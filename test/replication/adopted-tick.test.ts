import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { addToRun } from '../../warehouse/runs/add-to-run.ts';
import { adoptRun } from '../../warehouse/runs/adopt-run.ts';
import { beginTickRun } from '../../warehouse/runs/begin-tick-run.ts';
import { finishRun } from '../../warehouse/runs/finish-run.ts';
import { leaveTickRun } from '../../warehouse/runs/leave-tick-run.ts';
import { takePass } from '../../warehouse/passes/take-pass.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createServiceStarter } from './serve.ts';
import { resourceNamed } from '../../resources/index.ts';

const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);

test('a workflow continues with the list that its tick left unfinished', async () => {
  const service = await serve();
  const connectionId = service.connection;
  const [tickId, workflowRunId] = [randomUUID(), randomUUID()];
  const tick = {
    runId: tickId,
    connectionId,
    kind: 'sync',
    workflowId: 'tick/x',
    temporalRunId: tickId,
    reason: 'schedule',
  } as const;
  await beginTickRun(warehouse, tick);
  // The list has more pages, so the tick starts the workflow, but Temporal's answer is lost. The next attempt learns that the workflow is
  // running, before its first activity, and leaves the run.
  await addToRun(warehouse.pool, { runId: tickId, connectionId, stream: 'bills', counts: { read: 1 } });
  await leaveTickRun(warehouse, { runId: tickId, workflowId: 'tick/x' });
  const adopted = await adoptRun(warehouse, {
    runId: tickId,
    connectionId,
    workflowId: `sync/${connectionId}`,
    temporalRunId: workflowRunId,
  });
  expect(adopted).toBeDefined();
  const pass = {
    connectionId,
    stream: 'bills',
    kind: 'sync',
    part: '',
    runId: tickId,
    lease: 'l',
    token: 't',
  } as const;
  const taken = await takePass(warehouse, {
    pass,
    resource: resourceNamed('bills'),
    lookbackMilliseconds: 600_000,
  });
  // The last page does this.
  await service.rows('delete from sync.passes where connection_id = $1');
  const ended = await finishRun(warehouse, {
    runId: tickId,
    outcomes: [{ stream: 'bills', state: 'done' }],
    cancelled: false,
  });
  expect([taken.state, ended.status]).toEqual(['open', 'succeeded']);
});
