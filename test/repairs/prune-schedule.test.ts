import { expect, test } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { bill } from '../support/finance-records.ts';
import { createInstallation } from '../support/installation.ts';
import { land } from '../support/land.ts';
import { rows } from '../support/rows.ts';

const installation = await createInstallation({
  env: { DAYBOOK_KEEP_RUNS: '0s', DAYBOOK_KEEP_HISTORY: '0s' },
  commandsInOneProcess: true,
});
const { client, warehouse } = installation;
await installation.startWorker();
const schedule = client.schedule.getHandle('prune');

test('a worker creates the daily schedule that prunes the warehouse', async () => {
  const description = await eventually(() => schedule.describe());
  expect(description.spec.intervals).toMatchObject([{ every: 86_400_000 }]);
  expect(description.state.paused).toBe(false);
  const connection = await landTwice();
  await schedule.trigger();
  const workflowId = await eventually(async () => {
    const { info } = await schedule.describe();
    return info.recentActions[0]?.action.workflow.workflowId;
  });
  expect(workflowId).toMatch(/^prune/);
  expect(await client.workflow.getHandle(workflowId).result()).toEqual({
    'sync.runs': 1,
    'sync.run_streams': 1,
    'sync.quarantine': 0,
    'sync.discrepancies': 0,
    'sync.webhook_inbox': 0,
    'sync.alerts': 0,
    'history.record_versions': 1,
  });
  expect(await versionsOf(connection)).toEqual([{ memo: 'second' }]);
});

test('a pause of the prune schedule survives the start of another worker', async () => {
  await schedule.pause('month close');
  const worker = await installation.startWorker();
  await worker.stop();
  expect((await schedule.describe()).state).toMatchObject({ paused: true, note: 'month close' });
});

test('the prune command removes what its dry run counted, without a worker or Temporal', async () => {
  const connection = await landTwice();
  const env = { TEMPORAL_ADDRESS: '127.0.0.1:9' };
  const counted = await installation.run(['prune', '--dry-run', '--json'], { env });
  const { dry_run: dryRun, rows: expected } = JSON.parse(counted.stdout) as {
    dry_run: boolean;
    rows: Record<string, number>;
  };
  expect(dryRun).toBe(true);
  expect(expected['history.record_versions']).toBe(1);
  expect(await versionsOf(connection)).toHaveLength(2);
  const removed = await installation.run(['prune', '--json'], { env });
  expect(JSON.parse(removed.stdout)).toEqual({ dry_run: false, rows: expected });
  expect(await versionsOf(connection)).toEqual([{ memo: 'second' }]);
  const kept = await installation.run(['prune'], {
    env: { ...env, DAYBOOK_KEEP_HISTORY: 'forever', DAYBOOK_KEEP_RUNS: '90d' },
  });
  expect(kept.stdout).toMatch(/sync\.runs +0\n/);
  expect([counted.code, removed.code, kept.code]).toEqual([0, 0, 0]);
});

test('the rebuild command prints what it wrote, and rejects an unknown connection or resource', async () => {
  const connection = await landTwice();
  await warehouse.pool.query('delete from finance.bills where connection_id = $1', [connection]);
  const { code, stdout } = await installation.run(['rebuild', connection, '--resource', 'bills', '--json']);
  expect(JSON.parse(stdout)).toEqual([{ resource: 'bills', written: 1, restored: 1, removed: 0 }]);
  expect(code).toBe(0);
  const shown = await installation.run(['rebuild', connection]);
  expect(shown.stdout).toContain(`Rebuilt ${connection} from history.`);
  const nobody = await installation.run(['rebuild', 'nobody']);
  expect(nobody.stderr).toContain('There is no connection nobody');
  expect(nobody.code).toBe(1);
  expect((await installation.run(['rebuild', connection, '--resource', 'invoices'])).code).toBe(2);
});

/** Lands two runs, of which the second brings a new version of the one record. */
async function landTwice(): Promise<string> {
  const connectionId = await installation.connect();
  for (const memo of ['"first"', '"second"']) {
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b', { memo })]] });
    await warehouse.pool.query(
      `update sync.runs set status = 'succeeded', finished_at = clock_timestamp()
       where connection_id = $1 and finished_at is null`,
      [connectionId],
    );
  }
  return connectionId;
}

function versionsOf(connectionId: string): Promise<unknown[]> {
  return rows(
    warehouse,
    `select payload ->> 'memo' as memo from history.record_versions where connection_id = $1 order by recorded_at`,
    [connectionId],
  );
}
