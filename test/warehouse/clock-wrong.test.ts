import { afterEach, expect, test } from 'vitest';
import { randomUUID } from 'node:crypto';
import { ClockWrong } from '../../warehouse/errors.ts';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import { pruneWarehouse } from '../../warehouse/retention/prune-warehouse.ts';
import { beginRunOfAll } from '../../warehouse/runs/begin-run-of-all.ts';
import { beginRun } from '../../warehouse/runs/begin-run.ts';
import { rows } from '../support/rows.ts';
import { skewClock } from '../support/skewed-clock.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse, url } = await createTestDatabase();
const clock = await skewClock(url);
const skewed = openWarehouse({ url: clock.url, connections: 2 });
afterEach(() => clock.ahead('0'));

const runsOf = `select run_id from sync.runs where connection_id = $1 or kind = 'export'`;

test.each(['60 days', '-60 days'])(
  'a run does not begin while the clock of Postgres is off by %s',
  async (ahead) => {
    const connectionId = await addTestConnection(warehouse);
    await clock.ahead(ahead);
    await expect(begin(connectionId)).rejects.toThrow(ClockWrong);
    await expect(beginExport()).rejects.toThrow(
      /The clock of Postgres says .* correct the one that is wrong/,
    );
    expect(await rows(warehouse, runsOf, [connectionId])).toEqual([]);
    await clock.ahead('0');
    await begin(connectionId);
  },
);

test('a clock that is off by hours does not stop a run', async () => {
  const connectionId = await addTestConnection(warehouse);
  await clock.ahead('23 hours');
  await begin(connectionId);
});

test('a prune is refused while the clock is days ahead', async () => {
  const connectionId = await addTestConnection(warehouse);
  const runId = await begin(connectionId);
  await warehouse.pool.query(
    `update sync.runs set status = 'failed', finished_at = now() where run_id = $1`,
    [runId],
  );
  const keep = { runsMilliseconds: 90 * 86_400_000, historyMilliseconds: null };
  await clock.ahead('100 days');
  await expect(pruneWarehouse(skewed, { keep, dryRun: false })).rejects.toThrow(ClockWrong);
  expect(await rows(warehouse, 'select run_id from sync.runs where run_id = $1', [runId])).toHaveLength(1);
});

async function begin(connectionId: string): Promise<string> {
  const runId = randomUUID();
  const run = {
    runId,
    connectionId,
    kind: 'sync',
    workflowId: 'w',
    temporalRunId: runId,
    reason: 'test',
  } as const;
  await beginRun(skewed, run);
  return runId;
}

async function beginExport(): Promise<void> {
  const runId = randomUUID();
  const run = { runId, target: null, workflowId: 'w', temporalRunId: runId, reason: 'test' };
  await beginRunOfAll(skewed, { ...run, kind: 'export' });
}
