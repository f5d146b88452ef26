import { expect, test } from 'vitest';
import type { ScheduledStartInput, ScheduledStarted } from '../../activities/start-scheduled.ts';
import { pauseConnection } from '../../warehouse/connections/pause-connection.ts';
import { removeConnection } from '../../warehouse/connections/remove-connection.ts';
import { setSchedule } from '../../warehouse/connections/set-schedule.ts';
import { updateSchedules } from '../../operations/schedules/update-schedules.ts';
import { readWantedReconciles } from '../../warehouse/reconcile/read-wanted-reconciles.ts';
import { startRequest } from '../../temporal/start-request.ts';
import { blockWrites } from '../support/blocked-session.ts';
import { eventually } from '../support/eventually.ts';
import { createInstallation } from '../support/installation.ts';
import { row } from '../support/rows.ts';
import { sync } from '../support/sync.ts';

const installation = await createInstallation();
const { client: temporal, databaseUrl, warehouse } = installation;
await installation.startWorker();

const hour = 3_600_000;
const day = 24 * hour;

test('a schedule syncs its connection repeatedly', async () => {
  const connection = await scheduled({ syncEvery: 1_000 });
  await eventually(async () => {
    const { syncs } = await row(
      warehouse,
      `select count(*) as syncs from sync.runs
       where connection_id = $1 and kind = 'sync' and reason = 'schedule' and status = 'succeeded'`,
      [connection],
    );
    return Number(syncs) >= 2 ? true : undefined;
  });
  await setSchedule(warehouse, { connectionId: connection, syncEvery: null });
  await updateSchedules({ warehouse, temporal }, { connectionId: connection });
  expect((await installation.compare(connection)).differences).toEqual([]);
});

test('a tick takes fewer than 15 events and returns the outcome of its sync', async () => {
  const connection = await scheduled({ syncEvery: hour });
  const workflowId = await trigger(`sync/${connection}`);
  const handle = temporal.workflow.getHandle(workflowId);
  expect(await handle.result()).toMatchObject({ quiet: true, status: 'succeeded' });
  expect((await handle.fetchHistory()).events?.length).toBeLessThan(15);
});

test('a tick with nothing to tell Temporal does not wait for the lock on updates of its schedules', async () => {
  const connection = await scheduled({ syncEvery: hour });
  const teller = await warehouse.pool.connect();
  try {
    await teller.query('begin');
    await teller.query(`select sync.lock('schedules/' || $1::text)`, [connection]);
    expect(await tick({ kind: 'sync', connection })).toMatchObject({ quiet: true });
    await teller.query('rollback');
  } finally {
    teller.release();
  }
});

test('a tick joins a sync that is already running', async () => {
  const connection = await installation.connect({ ready: false });
  const running = await temporal.workflow.start('syncConnection', {
    workflowId: `sync/${connection}`,
    taskQueue: 'daybook',
    args: [{ connection }],
  });
  await setSchedule(warehouse, { connectionId: connection, syncEvery: hour });
  expect(await tick({ kind: 'sync', connection })).toEqual({
    workflowId: `sync/${connection}`,
    runId: running.firstExecutionRunId,
  });
  await running.terminate();
});

test('a tick of a reconcile schedule starts the reconcile', async () => {
  const connection = await scheduled({ reconcileEvery: day });
  expect(await tick({ kind: 'reconcile', connection })).toMatchObject({
    workflowId: `reconcile/${connection}`,
  });
  await temporal.workflow.getHandle(`reconcile/${connection}`).result();
});

test('a tick starts the reconcile of a resource that is marked for one', async () => {
  const connection = await scheduled({ syncEvery: hour });
  await tick({ kind: 'sync', connection });
  await requestReconcile(connection, 'items');
  await tick({ kind: 'sync', connection });
  await temporal.workflow.getHandle(`reconcile/${connection}`).result();
  expect(
    await row(
      warehouse,
      `select array_agg(stream) as streams from sync.run_streams join sync.runs r using (run_id)
       where r.connection_id = $1 and kind = 'reconcile' and reason = 'schedule'`,
      [connection],
    ),
  ).toEqual({ streams: ['items'] });
});

test('a sync outside of any schedule starts the reconcile of a resource that is marked for one', async () => {
  const connection = await installation.connect();
  await sync(installation, connection);
  await requestReconcile(connection, 'items');
  await sync(installation, connection);
  await temporal.workflow.getHandle(`reconcile/${connection}`).result();
  expect(await readRequestedReconciles(connection)).toEqual([]);
});

test('a scheduled reconcile that meets one of a single resource leaves the other resources to the next sync', async () => {
  const connection = await scheduled({ reconcileEvery: day });
  await sync(installation, connection);
  const blocked = await blockWrites(databaseUrl, 'sync.listed_pages');
  const { workflowType, options } = startRequest(
    'reconcile',
    { connection, resources: ['items'], reason: 'test' },
    'people',
  );
  const running = await temporal.workflow.start(workflowType, options);
  expect(await tick({ kind: 'reconcile', connection })).toMatchObject({ runId: running.firstExecutionRunId });
  await blocked.letGo();
  await running.result();
  const others = ['bill_credit_memos', 'bills', 'customers', 'expenses', 'subscriptions'];
  expect(await readRequestedReconciles(connection)).toEqual(others);
  await sync(installation, connection);
  await temporal.workflow.getHandle(`reconcile/${connection}`).result();
  expect(await readRequestedReconciles(connection)).toEqual([]);
});

async function requestReconcile(connection: string, stream: string): Promise<void> {
  await warehouse.pool.query(
    'update sync.streams set reconcile_wanted_at = now() where connection_id = $1 and stream = $2',
    [connection, stream],
  );
}

function readRequestedReconciles(connection: string): Promise<string[]> {
  return readWantedReconciles(warehouse, connection).then((wanted) => wanted.sort());
}

test('a scheduled backfill covers whole days back from its nominal time, and that day', async () => {
  const connection = await scheduled({ backfill: { every: 7 * day, last: 30 * day } });
  const start = Date.UTC(2024, 4, 15, 10);
  // Backfills the schedule as the Web UI does, with the ticks of a past time.
  const { intervals, jitter } = (await temporal.schedule.getHandle(`backfill/${connection}`).describe()).spec;
  expect([intervals?.[0]?.every, jitter]).toEqual([7 * day, 300_000]);
  await temporal.schedule
    .getHandle(`backfill/${connection}`)
    .backfill({ start: new Date(start), end: new Date(start + 7 * day) });
  const nominal = await eventually(async () => {
    const { info } = await temporal.schedule.getHandle(`backfill/${connection}`).describe();
    return info.recentActions[0];
  });
  const handle = temporal.workflow.getHandle(nominal.action.workflow.workflowId);
  const at = Date.parse(nominal.action.workflow.workflowId.slice(-20));
  const [from, to] = [at - 30 * day, at + day].map((time) => new Date(time).toISOString().slice(0, 10));
  expect(await handle.result()).toMatchObject({
    workflowId: `backfill/${connection}/${from ?? ''}_${to ?? ''}`,
  });
  const backfill = temporal.workflow.getHandle(`backfill/${connection}/${from ?? ''}_${to ?? ''}`);
  const { priority } = await backfill.describe();
  expect(priority).toMatchObject({ priorityKey: 4, fairnessKey: connection });
  expect(at).toBeLessThanOrEqual(start + 7 * day);
  await backfill.result();
});

test('a scheduled backfill begins once a running one of a single resource for the same days has ended', async () => {
  const connection = await scheduled({ backfill: { every: 7 * day, last: 30 * day } });
  const { workflowId, ticking, letGo } = await backfillBehindAnother(connection);
  await letGo();
  const started = await ticking;
  expect(started).toMatchObject({ workflowId });
  await temporal.workflow.getHandle(workflowId).result();
  const { streams } = await row(
    warehouse,
    `select count(distinct stream)::int as streams from sync.run_streams join sync.runs r using (run_id)
     where r.connection_id = $1 and r.reason = 'schedule'`,
    [connection],
  );
  expect(streams).toBeGreaterThan(2);
});

test.each([
  ['is not begun when the connection was paused meanwhile', true],
  ['begins when it was triggered by hand on a paused connection', false],
])('a scheduled backfill that waits for another one %s', async (_, whileItWaits) => {
  const connection = await scheduled({ backfill: { every: 7 * day, last: 30 * day } });
  if (!whileItWaits) await pause(connection, 'backfill');
  const { workflowId, ticking, letGo } = await backfillBehindAnother(connection);
  if (whileItWaits) await pause(connection, 'backfill');
  await letGo();
  expect(await ticking).toMatchObject(
    whileItWaits ? { skipped: `${connection} is paused: month end` } : { workflowId },
  );
  if (!whileItWaits) await temporal.workflow.getHandle(workflowId).result();
  expect(await pausedWhy(connection)).toBe('month end');
});

/** A scheduled backfill that waits for another one of bills, which is blocked until `letGo`. */
async function backfillBehindAnother(
  connection: string,
): Promise<{ workflowId: string; ticking: Promise<ScheduledStarted>; letGo: () => Promise<void> }> {
  const blocked = await blockWrites(databaseUrl, 'sync.passes');
  const [from, to] = [-30, 1].map((days) => new Date(Date.now() + days * day).toISOString().slice(0, 10)) as [
    string,
    string,
  ];
  const { workflowType, options } = startRequest(
    'backfill',
    { connection, from, to, resources: ['bills'], reason: 'test' },
    'people',
  );
  const running = await temporal.workflow.start(workflowType, options);
  const ticking = tick({ kind: 'backfill', connection, last: 30 * day });
  await eventually(async () => {
    const { raw } = await temporal.workflow.getHandle(`by-hand/backfill/${connection}`).describe();
    expect(raw.pendingActivities?.[0]?.lastFailure?.message).toBe(
      `${options.workflowId} is running, without expenses, bill_credit_memos, customers, items, subscriptions. The backfill of the schedule begins when it has ended.`,
    );
    return true;
  });
  return {
    workflowId: options.workflowId,
    ticking,
    letGo: async () => {
      await blocked.letGo();
      await running.result();
    },
  };
}

test('resuming a schedule in the Web UI resumes its connection and the other schedules', async () => {
  const connection = await scheduled({ syncEvery: hour, reconcileEvery: day });
  await pause(connection);
  const schedule = temporal.schedule.getHandle(`sync/${connection}`);
  await schedule.unpause('go on');
  await untilApplied(`sync/${connection}`);
  await trigger(`sync/${connection}`);
  await eventually(async () => ((await pausedWhy(connection)) === null ? true : undefined));
  const state = await eventually(async () => {
    const { state } = await temporal.schedule.getHandle(`reconcile/${connection}`).describe();
    return state.paused ? undefined : state;
  });
  expect(state.note).toBe('');
  expect((await schedule.describe()).state).toMatchObject({ paused: false, note: 'go on' });
});

test('a paused schedule that is triggered by hand runs once and stays paused', async () => {
  const connection = await scheduled({ syncEvery: hour });
  await pause(connection);
  const workflowId = await trigger(`sync/${connection}`);
  expect(await temporal.workflow.getHandle(workflowId).result()).toMatchObject({
    quiet: true,
    status: 'succeeded',
  });
  expect(await pausedWhy(connection)).toBe('month end');
  expect((await temporal.schedule.getHandle(`sync/${connection}`).describe()).state.paused).toBe(true);
});

test('a tick keeps a pause that did not reach Temporal, and pauses the schedule there', async () => {
  const connection = await scheduled({ syncEvery: hour });
  await pauseConnection(warehouse, { connectionId: connection, why: 'month end' });
  expect(await tick({ kind: 'sync', connection })).toEqual({ skipped: `${connection} is paused: month end` });
  expect(await pausedWhy(connection)).toBe('month end');
  const { state } = await temporal.schedule.getHandle(`sync/${connection}`).describe();
  expect(state).toMatchObject({ paused: true, note: 'Paused by Daybook: month end' });
});

test('a tick of a removed connection says so and deletes the schedule', async () => {
  const connection = await scheduled({ syncEvery: hour });
  await removeConnection(warehouse, { connectionId: connection, keepData: false });
  expect(await tick({ kind: 'sync', connection })).toEqual({
    skipped: `There is no connection ${connection} any more.`,
  });
  await expect(temporal.schedule.getHandle(`sync/${connection}`).describe()).rejects.toThrow();
});

test('a tick of a connection of another API address is skipped and names that address', async () => {
  const connection = await scheduled({ syncEvery: hour });
  await warehouse.pool.query(
    `update sync.connections set api_address = 'https://other.example.com' where connection_id = $1`,
    [connection],
  );
  expect(await tick({ kind: 'sync', connection })).toMatchObject({
    skipped: expect.stringContaining('https://other.example.com') as string,
  });
});

async function scheduled(schedule: Omit<Parameters<typeof setSchedule>[1], 'connectionId'>): Promise<string> {
  const connectionId = await installation.connect({ records: 20 });
  await setSchedule(warehouse, { connectionId, ...schedule });
  await updateSchedules({ warehouse, temporal }, { connectionId });
  return connectionId;
}

async function pause(connectionId: string, kind = 'sync'): Promise<void> {
  await pauseConnection(warehouse, { connectionId, why: 'month end' });
  await updateSchedules({ warehouse, temporal }, { connectionId });
  await untilApplied(`${kind}/${connectionId}`);
}

/**
 * Waits until the server has applied earlier changes of a schedule. Changes and patches at the same moment are applied in no order, and one
 * may be lost.
 */
async function untilApplied(scheduleId: string): Promise<void> {
  await temporal.schedule.getHandle(scheduleId).describe();
}

async function pausedWhy(connection: string): Promise<unknown> {
  return (
    await row(warehouse, 'select paused_why from sync.connections where connection_id = $1', [connection])
  ).paused_why;
}

/** Runs what a schedule starts, as a person who starts it again by hand. */
async function tick(input: Extract<ScheduledStartInput, { connection: string }>): Promise<ScheduledStarted> {
  return temporal.workflow.execute<(input: ScheduledStartInput) => Promise<ScheduledStarted>>(
    'scheduledStart',
    {
      workflowId: `by-hand/${input.kind}/${input.connection}`,
      taskQueue: 'daybook',
      args: [input],
    },
  );
}

/** Triggers a schedule. Returns the id of the workflow that it started. */
async function trigger(scheduleId: string): Promise<string> {
  const handle = temporal.schedule.getHandle(scheduleId);
  await handle.trigger();
  const action = await eventually(async () => (await handle.describe()).info.recentActions[0]);
  return action.action.workflow.workflowId;
}
