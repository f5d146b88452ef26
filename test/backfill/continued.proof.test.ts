import { expect, test } from 'vitest';
import { createInstallation } from '../support/installation.ts';
import { rows } from '../support/rows.ts';
import { sumOverStreams } from '../support/sync.ts';
import { startTemporalWith } from '../support/temporal-with.ts';
import { endOf, startBackfill } from './run-backfill.ts';

// Temporal suggests a new execution after 4,096 events; with a lower limit the test need not read for hours.
const temporalAddress = await startTemporalWith('limit.historyCount.suggestContinueAsNew=20');
const installation = await createInstallation({ temporalAddress });
const { warehouse, client, admin } = installation;
await installation.startWorker();

test('a backfill with a long history continues in a new execution as the same run, and plans no window twice', async () => {
  const connection = await installation.connect({ records: 600 });
  const handle = await startBackfill(installation, {
    connection,
    from: '2023-01-01',
    to: '2027-01-01',
    windowMilliseconds: 20 * 86_400_000,
  });
  const { run, failure } = await endOf(installation, handle);
  expect(failure).toBeUndefined();
  expect(run).toMatchObject({ run_id: handle.firstExecutionRunId, status: 'succeeded' });
  expect(run.streams.map(({ status, pages }) => [status, pages])).toEqual(
    Array(run.streams.length).fill(['succeeded', 74]),
  );
  expect(
    await rows(warehouse, `select from sync.passes where connection_id = $1 and kind = 'backfill'`, [
      connection,
    ]),
  ).toEqual([]);
  let executions = 0;
  for await (const execution of client.workflow.list()) {
    if (execution.workflowId === handle.workflowId) executions += 1;
  }
  expect(executions).toBeGreaterThan(1);
  expect(sumOverStreams(run, 'inserted')).toBe(await datedRecords(connection));
});

/** Counts the records in any window; those without updated_at are in none. */
async function datedRecords(connection: string): Promise<number> {
  const contents = await Promise.all(
    (['bills', 'expenses', 'bill_credit_memos', 'customers', 'items', 'subscriptions'] as const).map(
      (resource) => admin.content(connection, resource),
    ),
  );
  return contents.flat().filter((line) => (JSON.parse(line) as { updated_at?: unknown }).updated_at !== null)
    .length;
}
