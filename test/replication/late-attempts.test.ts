import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { alertConditions } from '../../warehouse/alerts/alert-conditions.ts';
import { LeaseLost } from '../../warehouse/errors.ts';
import { bill, customer } from '../support/finance-records.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { beginRun } from '../../warehouse/runs/begin-run.ts';
import { firstAttempt, lateAttempt } from './late-attempt.ts';
import { answerLater } from './scripted-service.ts';
import { createServiceStarter } from './serve.ts';

const { warehouse } = await createTestDatabase();
const serve = createServiceStarter(warehouse);

test.each([
  ['the list still refuses', true],
  ['the list answers by then', false],
])('an attempt that wakes after its run ended does not change the outcome: %s', async (_, refuses) => {
  const service = await serve();
  service.lists = { bills: [bill('a')], customers: [customer('c')] };
  await service.sync([]);
  service.onList = (resource) => (resource === 'customers' ? { status: 400, body: '{}' } : undefined);
  const { id: runId } = await service.sync([]);
  const readOutcome = async (): Promise<unknown> => [
    await service.rows(
      `select r.status as run, s.stream, s.status, s.failure_type, s.failure, s.requests
       from sync.runs r join sync.run_streams s using (run_id)
       where r.connection_id = $1 and r.run_id = '${String(runId)}' order by s.stream`,
    ),
    (await alertConditions.failed.execute(warehouse.db)).rows,
  ];
  const before = await readOutcome();
  if (!refuses) service.onList = () => undefined;
  await lateAttempt(service, { runId: String(runId), kind: 'sync', stream: 'customers' });
  expect(await readOutcome()).toEqual(before);
});

test('a page in flight does not land once the activity was reset and an attempt with the same number reads', async () => {
  const service = await serve();
  const execution = { workflowId: `sync/${service.connection}`, runId: randomUUID() };
  const read = (): Promise<unknown> =>
    firstAttempt(service, execution, ({ readStream }) =>
      readStream({
        runId: execution.runId,
        connection: service.connection,
        reason: 'test',
        stream: 'bills',
        kind: 'sync',
      }),
    );
  const { asked, answer } = answerLater(service, [bill('old')]);
  const before = read();
  await asked;
  service.onList = () => ({ status: 503, body: '{}' });
  await expect(read()).rejects.toThrow('503');
  answer();
  await expect(before).rejects.toThrow(LeaseLost);
  expect(await service.ids('bills')).toEqual([]);
});

test('a webhook run opened by a killed attempt is closed by the attempt after a reset, which counts as the first', async () => {
  const service = await serve();
  const { connection } = service;
  const execution = { workflowId: `webhooks/${connection}`, runId: randomUUID() };
  const { workflowId, runId } = execution;
  const run = { workflowId, runId, temporalRunId: runId, connectionId: connection, reason: 'webhook' };
  await beginRun(warehouse, { ...run, kind: 'webhook' });
  await firstAttempt(service, execution, ({ applyWebhooks }) => applyWebhooks({ runId, connection }));
  expect(await service.rows('select status from sync.runs where connection_id = $1')).toEqual([
    { status: 'succeeded' },
  ]);
});
