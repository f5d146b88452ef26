import { beforeEach, describe, expect, test } from 'vitest';
import { judgeAlerts } from '../../warehouse/alerts/judge-alerts.ts';
import { readAlerts, readOpenAlerts, type Alert } from '../../warehouse/alerts/read-alerts.ts';
import { pauseConnection } from '../../warehouse/connections/pause-connection.ts';
import { setSchedule } from '../../warehouse/connections/set-schedule.ts';
import { setToken } from '../../warehouse/connections/set-token.ts';
import { addTestConnection, testKey } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { addRun, addStream, failSync, succeedSync } from './facts.ts';

const { warehouse } = await createTestDatabase();

let name: string;
beforeEach(async () => {
  await warehouse.pool.query('delete from sync.connections; delete from sync.alerts; delete from sync.runs');
  name = await addTestConnection(warehouse);
});

test('the alert of an export that failed after publishing does not say that there is no newer snapshot', async () => {
  const said: string[] = [];
  for (const failure of [
    'No room.',
    'Published snapshot x: 1 rows in 1 tables. The Iceberg tables do not show it.',
  ]) {
    await warehouse.pool.query(
      `insert into sync.runs (run_id, kind, status, workflow_id, temporal_run_id, reason, failure, finished_at)
       values (gen_random_uuid(), 'export', 'failed', 'export', 'e', 'test', $1, now())`,
      [failure],
    );
    await judge();
    said.push(...(await readOpenAlerts(warehouse)).map(({ message }) => message));
  }
  expect(said).toEqual([
    expect.stringMatching(/^The last export failed at 20.* UTC, so there is no newer snapshot: No room\.$/),
    expect.stringMatching(/^The last export failed at 20.* UTC: Published snapshot x/),
  ]);
});

describe('the failed alert', () => {
  test('opens with the failure of the last sync, and ends with the next sync that succeeds', async () => {
    await failSync(warehouse, name, 'GET /accounting/bills failed (500): it will be retried.');
    await judge();
    expect(await open()).toMatchObject([
      {
        kind: 'failed',
        connection_id: name,
        message: expect.stringMatching(
          new RegExp(`^${name}: the last sync failed at 20..-.* UTC: GET /accounting/bills failed \\(500\\)`),
        ) as string,
        remedy: expect.stringContaining(`"daybook sync ${name}"`) as string,
        resolved_at: null,
      },
    ]);
    await failSync(warehouse, name, 'GET /accounting/bills failed (503): it will be retried.');
    await judge();
    const again = await open();
    expect(again.map(({ message }) => message)).toEqual([expect.stringContaining(', 2 times in a row: GET')]);
    await succeedSync(warehouse, name);
    await judge();
    expect(await open()).toEqual([]);
    expect(await readAlerts(warehouse, { limit: 10 })).toMatchObject([
      { kind: 'failed', resolved_at: expect.any(Date) as Date },
    ]);
  });

  test('names each kind of run whose newest run failed, and only those', async () => {
    await addRun(warehouse, {
      connection: name,
      kind: 'reconcile',
      status: 'failed',
      failure: 'Reconcile failed.',
    });
    await addRun(warehouse, {
      connection: name,
      kind: 'backfill',
      status: 'failed',
      failure: 'Backfill failed.',
    });
    await addRun(warehouse, { connection: name, kind: 'backfill', status: 'cancelled' });
    await succeedSync(warehouse, name);
    await judge();
    const [alert] = await open();
    expect(alert?.message).toMatch(
      /the last backfill failed at .*: Backfill failed\. the last reconcile failed at .*: Reconcile failed\./i,
    );
    expect(alert?.remedy).toContain(`"daybook backfill ${name} …" and "daybook reconcile ${name}"`);
    await addRun(warehouse, { connection: name, kind: 'reconcile', status: 'succeeded' });
    await addRun(warehouse, { connection: name, kind: 'backfill', status: 'succeeded' });
    await judge();
    expect(await open()).toEqual([]);
  });

  test('for one resource is not ended by a run of another resource, nor by a run dated by a wrong clock', async () => {
    const bills = {
      stream: 'bills',
      status: 'failed',
      type: 'GaveUp',
      failure: 'Bills kept failing.',
    } as const;
    const items = { stream: 'items', status: 'succeeded', type: null, failure: null } as const;
    const reconcile = { connection: name, kind: 'reconcile' } as const;
    await addRun(warehouse, {
      ...reconcile,
      status: 'succeeded',
      streams: [{ ...bills, status: 'succeeded', type: null, failure: null }],
    });
    await warehouse.pool.query(`update sync.runs set finished_at = now() + interval '1 year'`);
    await addRun(warehouse, { ...reconcile, status: 'partial', streams: [bills, items] });
    await addRun(warehouse, { ...reconcile, status: 'succeeded', streams: [items] });
    await judge();
    expect((await open()).map(({ message }) => message)).toEqual([
      expect.stringMatching(/the last reconcile failed in part at .* UTC: Bills kept failing\.$/),
    ]);
    const good = { ...bills, status: 'succeeded', type: null, failure: null } as const;
    await addRun(warehouse, { ...reconcile, status: 'succeeded', streams: [good] });
    await judge();
    expect(await open()).toEqual([]);
  });

  test('covers a partly failed run, but not what has an alert of its own', async () => {
    const partly = { connection: name, status: 'partial' } as const;
    await addRun(warehouse, {
      ...partly,
      streams: [{ stream: 'items', status: 'partial', type: 'Stalled', failure: 'It stalled.' }],
    });
    await judge();
    expect(await open()).toEqual([]);
    await addRun(warehouse, {
      ...partly,
      streams: [
        { stream: 'items', status: 'partial', type: 'Stalled', failure: 'It stalled.' },
        { stream: 'bills', status: 'failed', type: 'GaveUp', failure: 'Reading bills kept failing.' },
      ],
    });
    await judge();
    const [alert] = await open();
    expect(alert?.message).toMatch(/the last sync failed in part at .* UTC: Reading bills kept failing\.$/i);
  });
});

describe('the paused alert', () => {
  test('opens instead of the failed alert when a connection pauses itself, and ends with a new token', async () => {
    await failSync(warehouse, name, 'GET /accounting/bills was refused for its credentials (401).', {
      pauseWhy: `Set the right token with "daybook connection set-token ${name}".`,
    });
    await judge();
    expect(await open()).toMatchObject([
      {
        kind: 'paused',
        message: expect.stringMatching(
          /has paused itself since .*: GET .* was refused for its credentials \(401\)\./,
        ) as string,
        remedy: `Set the right token with "daybook connection set-token ${name}".`,
      },
    ]);
    await setToken(warehouse, testKey, { connectionId: name, token: 'new' });
    await judge();
    expect(await open()).toEqual([]);
  });

  test('does not open for a pause made by a person', async () => {
    await pauseConnection(warehouse, { connectionId: name, why: 'month end' });
    await judge();
    expect(await open()).toEqual([]);
  });
});

describe('the stale alert', () => {
  beforeEach(async () => {
    await setSchedule(warehouse, { connectionId: name, syncEvery: 900_000 });
    await addStream(warehouse, { connection: name, stream: 'bills', completeMinutesAgo: 31 });
    await addStream(warehouse, { connection: name, stream: 'items', completeMinutesAgo: 1 });
  });

  test('opens after twice the interval, names the stream, and ends when the stream is complete', async () => {
    await judge();
    const [alert] = await open();
    expect(alert).toMatchObject({ kind: 'stale', connection_id: name });
    expect(alert?.message).toMatch(
      /every 15 min, and bills \(last at 20.* UTC\) was not complete for more than twice that\. No sync is running\.$/,
    );
    expect(alert?.remedy).toContain('"daybook doctor"');
    await addRun(warehouse, { connection: name, status: 'running' });
    await judge();
    expect((await open())[0]?.message).toMatch(/A sync has been running since 20.* UTC\.$/);
    await addStream(warehouse, { connection: name, stream: 'bills', completeMinutesAgo: 1 });
    await judge();
    expect(await open()).toEqual([]);
  });

  test('says when nothing was ever read', async () => {
    await warehouse.pool.query(
      `delete from sync.streams; update sync.connections set created_at = now() - interval '1 day'`,
    );
    await judge();
    expect((await open())[0]?.message).toContain('nothing was read since it was added');
  });

  test.each(['paused by a person', 'paused in Temporal', 'not scheduled'])(
    'does not open for a connection that is %s',
    async (how) => {
      await judge();
      expect(await open()).toHaveLength(1);
      if (how === 'paused by a person')
        await pauseConnection(warehouse, { connectionId: name, why: 'month end' });
      if (how === 'not scheduled') await setSchedule(warehouse, { connectionId: name, syncEvery: null });
      await judgeAlerts(warehouse, { pausedElsewhere: how === 'paused in Temporal' ? [name] : [] });
      expect(await open()).toEqual([]);
    },
  );
});

function judge(): Promise<void> {
  return judgeAlerts(warehouse, { pausedElsewhere: [] });
}

function open(): Promise<Alert[]> {
  return readOpenAlerts(warehouse, name);
}
