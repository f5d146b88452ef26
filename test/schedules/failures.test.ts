import type { ScheduleDescription } from '@temporalio/client';
import { afterEach, expect, test } from 'vitest';
import { noteSyncEnd } from '../../warehouse/connections/note-sync-end.ts';
import { pauseConnection } from '../../warehouse/connections/pause-connection.ts';
import { setSchedule } from '../../warehouse/connections/set-schedule.ts';
import { updateSchedules } from '../../operations/schedules/update-schedules.ts';
import { addRun } from '../alerts/facts.ts';
import { createInstallation } from '../support/installation.ts';
import { proofTest } from '../support/proof-test.ts';
import { row, type Row } from '../support/rows.ts';
import { sync } from '../support/sync.ts';

const installation = await createInstallation({ env: { DAYBOOK_GIVE_UP_AFTER: '0s' } });
const { admin, client: temporal, warehouse } = installation;
await installation.startWorker();

const minute = 60_000;
const hour = 60 * minute;

afterEach(() => admin.clearFaults());

test('a refused token pauses the connection and says what to do, and the right token resumes it', async () => {
  const connection = await scheduled({ token: 'nobody-has-this-token' });
  const end = await sync(installation, connection);
  expect(end.run.status).toBe('failed');
  const why = `The finance API refused the credentials of ${connection}: set the right token with "daybook connection set-token ${connection}"; it then resumes by itself. If it refused every connection, DAYBOOK_CLIENT_ID or DAYBOOK_CLIENT_SECRET is wrong: set it, restart Daybook, then "daybook connection resume ${connection}".`;
  expect(await readState(connection)).toMatchObject({ paused_by: 'daybook', paused_why: why, failures: 1 });
  for (const kind of ['sync', 'reconcile']) {
    const paused = { paused: true, note: `Paused by Daybook: ${why}` };
    expect((await schedule(connection, kind)).state).toMatchObject(paused);
  }
  const { code, stdout } = await installation.run(['connection', 'set-token', connection, '--token-stdin'], {
    input: `token-of-${connection}`,
  });
  expect(code).toBe(0);
  expect(stdout).toContain('is resumed');
  expect(await readState(connection)).toMatchObject({ paused_at: null, paused_why: null, paused_by: null });
  for (const kind of ['sync', 'reconcile']) {
    expect((await schedule(connection, kind)).state).toMatchObject({ paused: false, note: '' });
  }
  expect((await schedule(connection)).spec.intervals?.[0]?.every).toBe(15 * minute);
});

test.for([
  [401, 'CONNECTION_DISABLED', 'repair or reauthorize it there'],
  [451, 'PLATFORM_REFUSED', 'have the company authorize it again'],
] as const)(
  '%i %s pauses the connection, and a successful manual sync resumes it',
  async ([status, code, remedy]) => {
    const connection = await scheduled();
    await admin.execute({ kind: 'refuse', connection, refusal: { status, code } });
    await sync(installation, connection);
    expect(await readState(connection)).toMatchObject({
      paused_by: 'daybook',
      paused_why: expect.stringContaining(remedy) as string,
    });
    await admin.execute({ kind: 'refuse', connection, refusal: null });
    expect((await sync(installation, connection)).run.status).toBe('succeeded');
    expect(await readState(connection)).toMatchObject({ paused_at: null, failures: 0 });
    expect((await schedule(connection)).state).toMatchObject({ paused: false, note: '' });
  },
);

test('a token of another company pauses the connection', async () => {
  const [connection, other] = [await scheduled(), await scheduled()];
  await sync(installation, connection);
  await installation.run(['connection', 'set-token', connection, '--token-stdin'], {
    input: `token-of-${other}`,
  });
  await sync(installation, connection);
  expect(await readState(connection)).toMatchObject({
    paused_why: expect.stringContaining('now opens a different company') as string,
  });
});

test('a pause that a person made outlives refused tokens, new tokens and successful syncs', async () => {
  const connection = await scheduled({ token: 'wrong' });
  await pauseConnection(warehouse, { connectionId: connection, why: 'month end' });
  await updateSchedules({ warehouse, temporal }, { connectionId: connection });
  await sync(installation, connection);
  await installation.run(['connection', 'set-token', connection, '--token-stdin'], {
    input: `token-of-${connection}`,
  });
  expect((await sync(installation, connection)).run.status).toBe('succeeded');
  expect(await readState(connection)).toMatchObject({
    paused_why: 'month end',
    paused_by: 'person',
    failures: 0,
  });
  expect((await schedule(connection)).state).toMatchObject({
    paused: true,
    note: 'Paused by Daybook: month end',
  });
});

test('repeated failures stretch the interval of a schedule up to 6 h, and the first success restores it', async () => {
  const connection = await scheduled();
  await admin.addFault({ match: { connection }, fault: { kind: 'status', status: 500 } });
  await sync(installation, connection);
  expect(await readInterval(connection)).toBe(30 * minute);
  await sync(installation, connection);
  const { spec, state, policies } = await schedule(connection);
  expect(spec.intervals?.[0]?.every).toBe(hour);
  expect(policies.catchupWindow).toBe(hour);
  expect(state).toMatchObject({
    paused: false,
    note: 'Slowed down: every 1h instead of 15m after 2 failed in a row; the first that gets through ends this',
  });
  expect((await schedule(connection, 'reconcile')).spec.intervals?.[0]?.every).toBe(24 * hour);
  await warehouse.pool.query('update sync.connections set failures = 20 where connection_id = $1', [
    connection,
  ]);
  await sync(installation, connection);
  expect(await readInterval(connection)).toBe(6 * hour);
  await admin.clearFaults();
  await sync(installation, connection);
  expect(await readInterval(connection)).toBe(15 * minute);
  expect((await schedule(connection)).state.note).toBe('');
});

test('a sync that fails for only some lists resets the count of failures', async () => {
  const connection = await scheduled();
  await warehouse.pool.query('update sync.connections set failures = 3 where connection_id = $1', [
    connection,
  ]);
  await admin.addFault({
    match: { connection, path: '/accounting/items' },
    fault: { kind: 'status', status: 500 },
  });
  expect((await sync(installation, connection)).run.status).toBe('partial');
  expect(await readState(connection)).toMatchObject({ failures: 0 });
});

test('a second successful sync writes neither the connection nor its schedule', async () => {
  const connection = await scheduled();
  await sync(installation, connection);
  const before = [await readState(connection), (await schedule(connection)).info.lastUpdatedAt];
  await sync(installation, connection);
  expect([await readState(connection), (await schedule(connection)).info.lastUpdatedAt]).toEqual(before);
});

proofTest('a failure that is recorded twice counts once', async () => {
  const connectionId = await scheduled();
  const failed = { connection: connectionId, status: 'failed' } as const;
  const runId = await addRun(warehouse, failed);
  const ended = { connectionId, runId, status: 'failed', pauseWhy: null } as const;
  await noteSyncEnd(warehouse, ended);
  await noteSyncEnd(warehouse, ended);
  expect(await readState(connectionId)).toMatchObject({ failures: 1 });
  await noteSyncEnd(warehouse, { ...ended, runId: await addRun(warehouse, failed) });
  expect(await readState(connectionId)).toMatchObject({ failures: 2 });
});

proofTest(
  'a partial sync that read nothing neither ends a pause nor resets the count of failures',
  async () => {
    const [connectionId, other] = [await scheduled(), await scheduled()];
    await sync(installation, other);
    const runId = await addRun(warehouse, { connection: connectionId, status: 'failed' });
    const ended = { connectionId, runId, pauseWhy: 'why' } as const;
    await noteSyncEnd(warehouse, { ...ended, status: 'failed' });
    await noteSyncEnd(warehouse, { ...ended, status: 'partial' });
    expect(await readState(connectionId)).toMatchObject({ failures: 1, paused_why: 'why' });
  },
);

test('a sync of only an unsupported list ends no pause, as it may have sent no request', async () => {
  const connectionId = await scheduled();
  const stream = { stream: 'items', status: 'unsupported', type: null, failure: null } as const;
  const failed = await addRun(warehouse, { connection: connectionId, status: 'failed' });
  await noteSyncEnd(warehouse, { connectionId, runId: failed, status: 'failed', pauseWhy: 'why' });
  const runId = await addRun(warehouse, { connection: connectionId, status: 'succeeded', streams: [stream] });
  await noteSyncEnd(warehouse, { connectionId, runId, status: 'succeeded', pauseWhy: null });
  expect(await readState(connectionId)).toMatchObject({ failures: 1, paused_why: 'why' });
});

proofTest(
  'a failed sync ends as usual and recreates, paused, a schedule that was deleted in Temporal',
  async () => {
    const connection = await scheduled({ token: 'wrong' });
    await temporal.schedule.getHandle(`sync/${connection}`).delete();
    expect((await sync(installation, connection)).run.status).toBe('failed');
    expect((await schedule(connection)).state.paused).toBe(true);
  },
);

proofTest('a refused token pauses a connection without schedules, and creates no schedule', async () => {
  const connection = await installation.connect({ token: 'wrong' });
  await sync(installation, connection);
  expect(await readState(connection)).toMatchObject({ paused_by: 'daybook' });
  await expect(schedule(connection)).rejects.toThrow();
});

async function scheduled(input: { token?: string } = {}): Promise<string> {
  const connectionId = await installation.connect({ records: 20, ...input });
  await setSchedule(warehouse, { connectionId, syncEvery: 15 * minute, reconcileEvery: 24 * hour });
  await updateSchedules({ warehouse, temporal }, { connectionId });
  return connectionId;
}

function readState(connection: string): Promise<Row> {
  return row(
    warehouse,
    `select paused_at, paused_why, paused_by, failures, xmin::text as version
     from sync.all_connections where connection_id = $1`,
    [connection],
  );
}

function schedule(connection: string, kind = 'sync'): Promise<ScheduleDescription> {
  return temporal.schedule.getHandle(`${kind}/${connection}`).describe();
}

async function readInterval(connection: string): Promise<number | undefined> {
  return (await schedule(connection)).spec.intervals?.[0]?.every;
}
