import { beforeEach, expect, test } from 'vitest';
import { judgeAlerts } from '../../warehouse/alerts/judge-alerts.ts';
import { readAlerts } from '../../warehouse/alerts/read-alerts.ts';
import { removeConnection } from '../../warehouse/connections/remove-connection.ts';
import { pruneWarehouse } from '../../warehouse/retention/prune-warehouse.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { addStream, failSync, succeedSync } from './facts.ts';

const { warehouse } = await createTestDatabase();

let name: string;
beforeEach(async () => {
  await warehouse.pool.query('delete from sync.connections; delete from sync.alerts; delete from sync.runs');
  name = await addTestConnection(warehouse);
});

test('one alert per kind and connection is open, however often and concurrently it is judged', async () => {
  await failSync(warehouse, name, 'It failed.');
  for (let round = 0; round < 5; round += 1) await Promise.all([judge(), judge(), judge(), judge()]);
  const all = await readAlerts(warehouse, { limit: 10 });
  expect(all).toHaveLength(1);
});

test('the alerts of a removed connection end, and stay in the list', async () => {
  await failSync(warehouse, name, 'It failed.');
  await judge();
  await removeConnection(warehouse, { connectionId: name, keepData: false });
  await judge();
  expect(await readAlerts(warehouse, { limit: 10 })).toMatchObject([
    { kind: 'failed', connection_id: name, resolved_at: expect.any(Date) as Date },
  ]);
});

test('ended alerts are pruned with the runs of their time, and open ones are kept', async () => {
  await addStream(warehouse, { connection: name, stream: 'items', stalled: true });
  await failSync(warehouse, name, 'It failed.');
  await judge();
  await succeedSync(warehouse, name);
  await judge();
  await warehouse.pool.query(`update sync.alerts set opened_at = now() - interval '100 days'`);
  await warehouse.pool.query(
    `update sync.alerts set resolved_at = now() - interval '91 days' where resolved_at is not null`,
  );
  const keep = { runsMilliseconds: 90 * 86_400_000, historyMilliseconds: null };
  expect(await pruneWarehouse(warehouse, { keep, dryRun: false })).toMatchObject({ 'sync.alerts': 1 });
  expect(await readAlerts(warehouse, { limit: 10 })).toMatchObject([{ kind: 'stalled', resolved_at: null }]);
});

function judge(): Promise<void> {
  return judgeAlerts(warehouse, { pausedElsewhere: [] });
}
