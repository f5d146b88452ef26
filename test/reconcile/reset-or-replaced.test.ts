import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { beginRun } from '../../warehouse/runs/begin-run.ts';
import { finishRun } from '../../warehouse/runs/finish-run.ts';
import { bill } from '../support/finance-records.ts';
import { createCompanies } from './company.ts';
import { noHalt, reconcileWithHalt } from './reconcile-with-halt.ts';

const { warehouse, company } = await createCompanies();

for (const status of ['running', 'failed'])
  test(`a reconcile that is reset to its end does not succeed by a row that proves nothing (${status})`, async () => {
    const { service } = await company({ bills: [bill('a'), bill('b')] });
    // Changed in a way that only a reconcile finds.
    service.lists.bills = [bill('a'), bill('b', { memo: '"changed"' })];
    const workflowId = `reconcile/${service.connection}`;
    const begin = (runId: string) =>
      beginRun(warehouse, {
        runId,
        connectionId: service.connection,
        kind: 'reconcile',
        workflowId,
        temporalRunId: runId,
        reason: 'test',
      });
    const [first, reset] = [randomUUID(), randomUUID()];
    await begin(first);
    // The database is restored to the time when the first execution was listing (running), or that execution ended with NotProved (failed).
    await service.rows(
      `insert into sync.run_streams (run_id, connection_id, stream, status, failure_type) values ('${first}', $1, 'bills', 'running', null) returning 1`,
    );
    const outcomes = [{ stream: 'bills', state: 'done' as const }];
    if (status === 'failed')
      expect(
        await finishRun(warehouse, {
          runId: first,
          kind: 'reconcile',
          outcomes,
          cancelled: false,
          firstExecutionRunId: first,
        }),
      ).toMatchObject({ status: 'failed' });
    await begin(reset);
    const finished = await finishRun(warehouse, {
      runId: reset,
      kind: 'reconcile',
      outcomes,
      cancelled: false,
      firstExecutionRunId: first,
    });
    const held = await service.rows(`select memo from finance.bills where connection_id = $1 and id = 'b'`);
    expect({ finished, held }).not.toMatchObject({
      finished: { status: 'succeeded' },
      held: [{ memo: null }],
    });
  });

test('a reconcile ends when another one was started with another workflow ID', async () => {
  const { service } = await company({ bills: [bill('a')] });
  let calls = 0;
  const names: string[] = [];
  const other = randomUUID();
  const run = await reconcileWithHalt(warehouse, service, ['bills'], {
    ...noHalt,
    onCall(name) {
      names.push(name);
      calls += 1;
      if (calls > 60) throw new Error(`it goes round: ${names.slice(0, 12).join(' ')}`);
      if (name !== 'readStream' || calls > 3) return Promise.resolve();
      return beginRun(warehouse, {
        runId: other,
        connectionId: service.connection,
        kind: 'reconcile',
        workflowId: `reconcile-again/${service.connection}`,
        temporalRunId: other,
        reason: 'Start Workflow Like This One',
      });
    },
  });
  expect(run.status).toBe('failed');
});
