import { Client, Connection, ScheduleNotFoundError, type ScheduleDescription } from '@temporalio/client';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { addConnection } from '../../warehouse/connections/add-connection.ts';
import { pauseConnection } from '../../warehouse/connections/pause-connection.ts';
import { removeConnection } from '../../warehouse/connections/remove-connection.ts';
import { resumeConnection } from '../../warehouse/connections/resume-connection.ts';
import { setSchedule } from '../../warehouse/connections/set-schedule.ts';
import { warehouseId } from '../../warehouse/warehouse-id.ts';
import { updateSchedules } from '../../operations/schedules/update-schedules.ts';
import { repairSchedules } from '../../worker/schedules/repair-schedules.ts';
import { ForeignSchedule } from '../../operations/schedules/settle-schedule.ts';
import { eventually } from '../support/eventually.ts';
import { proofTest } from '../support/proof-test.ts';
import { addTestConnection, testApiAddress, testKey } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestNamespace } from '../support/temporal-namespace.ts';

const { warehouse } = await createTestDatabase();
const { client: temporal } = await createTestNamespace();
const places = { warehouse, temporal, apiAddress: testApiAddress, requestsPer10s: 450 };

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

test('a connection gets the schedules that are set for it, and no others', async () => {
  const connectionId = await scheduled({ syncEvery: 15 * minute });
  expect(await describe(`reconcile/${connectionId}`)).toBeUndefined();
  expect(await describe(`backfill/${connectionId}`)).toBeUndefined();
  const schedule = await describe(`sync/${connectionId}`);
  expect(schedule?.spec).toMatchObject({ intervals: [{ every: 15 * minute }], jitter: 90_000 });
  expect(schedule?.policies).toEqual({ overlap: 'SKIP', catchupWindow: 15 * minute, pauseOnFailure: false });
  expect(schedule?.action).toMatchObject({
    workflowType: 'scheduledStart',
    workflowId: `scheduled/sync/${connectionId}`,
    taskQueue: 'daybook',
    ...{
      args: [{ kind: 'sync', connection: connectionId }],
      staticSummary: `Sync of ${connectionId}, scheduled`,
    },
  });
  expect(schedule?.action.retry).toBeUndefined();
  expect(schedule?.state).toMatchObject({ paused: false, note: '' });
});

test('a backfill schedule passes on how far back to read, and has a jitter of at most 5 minutes', async () => {
  const connectionId = await addTestConnection(warehouse);
  await setSchedule(warehouse, { connectionId, backfill: { every: 7 * day, last: 90 * day } });
  await updateSchedules(places, { connectionId });
  const described = await describe(`backfill/${connectionId}`);
  expect(described?.action.args).toEqual([{ kind: 'backfill', connection: connectionId, last: 90 * day }]);
  expect(described?.spec.jitter).toBe(5 * minute);
});

test('a schedule that is already as it should be is not updated', async () => {
  const connectionId = await scheduled({ syncEvery: 15 * minute, reconcileEvery: day });
  await updateSchedules(places, { connectionId });
  expect((await describe(`sync/${connectionId}`))?.info.lastUpdatedAt).toBeUndefined();
  expect((await describe(`reconcile/${connectionId}`))?.info.lastUpdatedAt).toBeUndefined();
});

test('a schedule takes its changed interval, and is deleted when it is switched off', async () => {
  const connectionId = await scheduled({ syncEvery: 15 * minute, reconcileEvery: day });
  await change(connectionId, { syncEvery: hour, reconcileEvery: null });
  expect((await describe(`sync/${connectionId}`))?.spec.intervals?.[0]?.every).toBe(hour);
  expect(await describe(`reconcile/${connectionId}`)).toBeUndefined();
});

test('a change made in the Web UI is reverted, but a pause made there stays', async () => {
  const connectionId = await scheduled({ syncEvery: hour });
  const handle = temporal.schedule.getHandle(`sync/${connectionId}`);
  await handle.pause('the auditors are here');
  await handle.update((now) => ({ ...now, spec: { intervals: [{ every: '1 day' }] } }));
  await updateSchedules(places, { connectionId });
  const { spec, state } = await handle.describe();
  expect(spec.intervals?.[0]?.every).toBe(hour);
  expect(state).toMatchObject({ paused: true, note: 'the auditors are here' });
});

test('a pause of a connection pauses every schedule with its reason, and resuming ends it', async () => {
  const connectionId = await scheduled({ syncEvery: hour, reconcileEvery: day });
  await pauseConnection(warehouse, { connectionId, why: 'month end' });
  await updateSchedules(places, { connectionId });
  for (const kind of ['sync', 'reconcile']) {
    const paused = { paused: true, note: 'Paused by Daybook: month end' };
    expect((await describe(`${kind}/${connectionId}`))?.state).toMatchObject(paused);
  }
  await resumeConnection(warehouse, { connectionId });
  await updateSchedules(places, { connectionId });
  for (const kind of ['sync', 'reconcile']) {
    expect((await describe(`${kind}/${connectionId}`))?.state).toMatchObject({ paused: false, note: '' });
  }
});

test('a pause made in the Web UI outlives a pause by Daybook, and ends when a person resumes the connection', async () => {
  const connectionId = await scheduled({ syncEvery: hour });
  const handle = temporal.schedule.getHandle(`sync/${connectionId}`);
  await handle.pause('by hand');
  await pauseConnection(warehouse, { connectionId, why: 'month end' });
  await updateSchedules(places, { connectionId });
  await resumeConnection(warehouse, { connectionId });
  await updateSchedules(places, { connectionId });
  expect((await handle.describe()).state).toMatchObject({ paused: true, note: 'by hand' });
  await updateSchedules(places, { connectionId, resume: true });
  expect((await handle.describe()).state).toMatchObject({ paused: false, note: '' });
});

test('a schedule that somebody else made under an ID of Daybook is neither changed nor deleted', async () => {
  const connectionId = await addTestConnection(warehouse);
  await temporal.schedule.create({
    scheduleId: `sync/${connectionId}`,
    spec: { intervals: [{ every: '1 day' }] },
    action: { type: 'startWorkflow', workflowType: 'theirs', taskQueue: 'theirs', args: [] },
  });
  await setSchedule(warehouse, { connectionId, syncEvery: hour });
  await expect(updateSchedules(places, { connectionId })).rejects.toThrow(ForeignSchedule);
  await removeConnection(warehouse, { connectionId, keepData: false });
  await updateSchedules(places, { connectionId });
  expect((await describe(`sync/${connectionId}`))?.action.workflowType).toBe('theirs');
});

test('a schedule of another warehouse is neither changed nor deleted', async () => {
  const connectionId = await scheduled({ syncEvery: hour });
  const theirs = await describe(`sync/${connectionId}`);
  const own = await warehouseId(warehouse);
  const setId = (id: string): Promise<unknown> =>
    warehouse.pool.query(`update sync.settings set value = $1 where name = 'warehouse_id'`, [id]);
  await setId('another');
  await expect(updateSchedules(places, { connectionId })).rejects.toThrow(ForeignSchedule);
  expect(await repair()).toContain(`that the warehouse ${own} made`);
  await change(connectionId, { syncEvery: null });
  expect(await describe(`sync/${connectionId}`)).toMatchObject({ memo: theirs?.memo });
  await setId(own);
  await updateSchedules(places, { connectionId });
});

test('a repair recreates schedules that were deleted in Temporal, paused if their connection is paused', async () => {
  const [runs, paused] = [await scheduled({ syncEvery: hour }), await scheduled({ reconcileEvery: day })];
  await pauseConnection(warehouse, { connectionId: paused, why: 'month end' });
  await temporal.schedule.getHandle(`sync/${runs}`).delete();
  await temporal.schedule.getHandle(`reconcile/${paused}`).delete();
  await repair();
  expect((await describe(`sync/${runs}`))?.state.paused).toBe(false);
  expect((await describe(`reconcile/${paused}`))?.state).toMatchObject({
    paused: true,
    note: 'Paused by Daybook: month end',
  });
});

test('a repair deletes the schedules of a removed connection, and leaves those of another warehouse', async () => {
  const connectionId = await scheduled({ syncEvery: hour, reconcileEvery: day });
  await temporal.schedule.create({
    scheduleId: 'sync/of-another-warehouse',
    spec: { intervals: [{ every: '1 day' }] },
    action: { type: 'startWorkflow', workflowType: 'scheduledStart', taskQueue: 'daybook', args: [] },
    memo: { daybook: 'another-warehouse', connection: 'of-another-warehouse' },
  });
  await removeConnection(warehouse, { connectionId, keepData: false });
  await eventually(async () => {
    await repair();
    return (await describe(`sync/${connectionId}`)) === undefined ? true : undefined;
  });
  expect(await describe(`reconcile/${connectionId}`)).toBeUndefined();
  expect(await describe('sync/of-another-warehouse')).toBeDefined();
});

test('a repair creates no schedule for a connection of another API address', async () => {
  const connectionId = 'elsewhere';
  const token = 'a token';
  await addConnection(warehouse, testKey, {
    connectionId,
    apiAddress: 'https://other.example.com',
    token,
    expandPlatformData: false,
    syncEvery: hour,
    reconcileEvery: null,
  });
  await repair();
  expect(await describe(`sync/${connectionId}`)).toBeUndefined();
});

proofTest(
  'a repair logs a foreign schedule and repairs the others, and logs that Temporal is unreachable',
  async () => {
    const [taken, other] = [await addTestConnection(warehouse), await addTestConnection(warehouse)];
    await temporal.schedule.create({
      scheduleId: `sync/${taken}`,
      spec: { intervals: [{ every: '1 day' }] },
      action: { type: 'startWorkflow', workflowType: 'theirs', taskQueue: 'theirs', args: [] },
    });
    await setSchedule(warehouse, { connectionId: taken, syncEvery: hour });
    await setSchedule(warehouse, { connectionId: other, syncEvery: hour });
    expect(await repair()).toContain('that Daybook did not make');
    expect(await describe(`sync/${other}`)).toBeDefined();
    await setSchedule(warehouse, { connectionId: taken, syncEvery: null });

    const connection = Connection.lazy({ address: '127.0.0.1:9', connectTimeout: '200ms' });
    const away = new Client({ connection });
    expect(await repair(away)).toContain('they are repaired when a worker starts');
    await connection.close();
  },
);

test('simultaneous repairs leave every schedule with the interval that is set', async () => {
  const connections = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const connectionId = await addTestConnection(warehouse);
      await setSchedule(warehouse, { connectionId, syncEvery: hour, reconcileEvery: day });
      return connectionId;
    }),
  );
  await Promise.all([repair(), repair(), repair()]);
  for (const connection of connections) {
    expect((await describe(`sync/${connection}`))?.spec.intervals?.[0]?.every).toBe(hour);
    expect((await describe(`reconcile/${connection}`))?.spec.intervals?.[0]?.every).toBe(day);
  }
});

test('concurrent changes of an interval leave Temporal with the interval in the database', async () => {
  const connectionId = await scheduled({ syncEvery: hour });
  await Promise.all(
    Array.from({ length: 8 }, (_, index) => change(connectionId, { syncEvery: (index + 1) * minute })),
  );
  const { rows } = await warehouse.pool.query<{ every: number }>(
    `select (extract(epoch from sync_every) * 1000)::bigint as every from sync.connections where connection_id = $1`,
    [connectionId],
  );
  expect((await describe(`sync/${connectionId}`))?.spec.intervals?.[0]?.every).toBe(rows[0]?.every);
});

async function scheduled(every: { syncEvery?: number; reconcileEvery?: number }): Promise<string> {
  const connectionId = await addTestConnection(warehouse);
  await change(connectionId, every);
  return connectionId;
}

async function change(
  connectionId: string,
  every: { syncEvery?: number | null; reconcileEvery?: number | null },
): Promise<void> {
  await setSchedule(warehouse, { connectionId, ...every });
  await updateSchedules(places, { connectionId });
}

/** Repairs the schedules, and returns the log. */
async function repair(client = temporal): Promise<string> {
  const logged: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) });
  const stopping = new AbortController().signal;
  await repairSchedules({ ...places, temporal: client }, { logger, stopping });
  return logged.join('');
}

async function describe(scheduleId: string): Promise<ScheduleDescription | undefined> {
  try {
    return await temporal.schedule.getHandle(scheduleId).describe();
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return undefined;
    throw error;
  }
}
