import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, expect, test } from 'vitest';
import type { ScheduledStarted } from '../../activities/start-scheduled.ts';
import { setSchedule } from '../../warehouse/connections/set-schedule.ts';
import { fetchEvents } from '../support/workflow-history.ts';
import { createInstallation } from '../support/installation.ts';
import { reconcile } from '../support/reconcile.ts';
import { sync, type SyncHandle } from '../support/sync.ts';
import { createSandboxApiClient } from './create-sandbox-api-client.ts';
import { createDependencies } from './create-dependencies.ts';
import { Driver } from './driver.ts';

/** Compares the calls of the simulation, which plays the workflows, with the calls of the real workflows. */
const installation = await createInstallation({ env: { DAYBOOK_LOG_LEVEL: 'error' } });
const { admin, client, sandbox, warehouse } = installation;
const api = createSandboxApiClient(installation);
afterAll(() => api.close());
await installation.startWorker();

test('the simulation calls the same activities as the workflows, as often, and with the same inputs', async () => {
  const [real, played] = [await company(), await company()];
  const days = { from: '2024-01-01', to: '2024-03-01' };

  const calls: string[] = [];
  const driver = createDriver(played, calls);
  await admin.configure({ maximumLimit: 20 });
  await driver.tick(`${played}-0`, []);
  await admin.configure({});
  await driver.tick(`${played}-00`, []);
  await driver.sync(`${played}-1`, []);
  await deleteWithoutEvent(played);
  await driver.reconcile(`${played}-2`, []);
  await driver.backfill(`${played}-3`, [], days);

  await admin.configure({ maximumLimit: 20 });
  const handles = await tick(real, 'first');
  await admin.configure({});
  handles.push(...(await tick(real, 'second')));
  expect(handles).toHaveLength(3);
  handles.push((await sync(installation, real)).handle);
  await deleteWithoutEvent(real);
  handles.push((await reconcile(installation, real)).handle);
  const workflowId = `backfill/${real}/${days.from}_${days.to}`;
  const args = [{ connection: real, reason: 'test', ...days }];
  const backfill = await client.workflow.start('backfillConnection', {
    workflowId,
    taskQueue: 'daybook',
    args,
  });
  await backfill.result();
  handles.push(backfill);
  const scheduled = await Promise.all(handles.map(readCalls));

  expect(calls.map(withoutNames).sort()).toEqual(scheduled.flat().map(withoutNames).sort());
});

/** Runs a tick of a schedule, and the sync that it may start. */
async function tick(connection: string, name: string): Promise<SyncHandle[]> {
  const handle = await client.workflow.start('scheduledStart', {
    workflowId: `${name}/${connection}`,
    taskQueue: 'daybook',
    args: [{ kind: 'sync', connection }],
  });
  const started = (await handle.result()) as ScheduledStarted;
  if (!('workflowId' in started)) return [handle];
  const syncHandle = client.workflow.getHandle(started.workflowId, started.runId);
  await syncHandle.result();
  return [handle, syncHandle];
}

function createDriver(connection: string, calls: string[]): Driver {
  return new Driver({
    connection,
    worker: () => ({
      lost: new Promise(() => undefined),
      isDead: () => false,
      dependencies: () =>
        createDependencies({ warehouse, api, apiAddress: sandbox.url, lookbackMilliseconds: 600_000 }),
    }),
    pass: (milliseconds) => wait(milliseconds),
    isTerminated: () => false,
    onCall: (name, input) => calls.push(`${name} ${JSON.stringify(input)}`),
    onFailure: (failure) => {
      throw failure;
    },
  });
}

async function company(): Promise<string> {
  const connectionId = await installation.connect({ records: 300 });
  await setSchedule(warehouse, { connectionId, syncEvery: 86_400_000 });
  return connectionId;
}

/** Deletes a record without an event, so that only a reconcile finds out. */
async function deleteWithoutEvent(connection: string): Promise<void> {
  const [line = '{}'] = await admin.content(connection, 'bills', { limit: 1 });
  const { id } = JSON.parse(line) as { id: string };
  await admin.execute({ kind: 'delete', connection, resource: 'bills', id, event: false });
}

async function readCalls(handle: SyncHandle): Promise<string[]> {
  return (await fetchEvents(handle)).flatMap(({ activityTaskScheduledEventAttributes: call }) => {
    const input = call?.input?.payloads?.[0]?.data;
    return input === null || input === undefined
      ? []
      : [`${call?.activityType?.name ?? ''} ${Buffer.from(input).toString('utf8')}`];
  });
}

/** Removes what may differ: the run, the company and the reason. Members may come in any order, and streams end in any. */
function withoutNames(call: string): string {
  const [name = '', ...input] = call.split(' ');
  const members = JSON.parse(input.join(' ')) as Record<string, unknown>;
  const told = Object.entries(members)
    .filter(
      ([member]) =>
        !['runId', 'firstExecutionRunId', 'connection', 'reason', 'at', 'adopts'].includes(member),
    )
    .map(([member, value]) => [
      member,
      Array.isArray(value) ? value.map((one) => JSON.stringify(one)).sort() : value,
    ]);
  return `${name} ${told
    .map((one) => JSON.stringify(one))
    .sort()
    .join(' ')}`;
}
