import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { NativeConnection, Worker } from '@temporalio/worker';
import { beforeEach, expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../embedded/free-port.ts';
import { startTemporal } from '../../embedded/temporal.ts';
import { readBacklog } from '../../operations/read-backlog.ts';
import { readRetries } from '../../operations/read-retries.ts';
import { updateSchedules } from '../../operations/schedules/update-schedules.ts';
import { readStuckWorkflows } from '../../operations/stuck-workflows.ts';
import { scheduleIds } from '../../temporal/schedule-ids.ts';
import { searchAttributes } from '../../temporal/search-attributes.ts';
import { mainQueue } from '../../temporal/task-queues.ts';
import { workflowIds } from '../../temporal/workflow-ids.ts';
import { judgeAlerts, type TemporalState } from '../../warehouse/alerts/judge-alerts.ts';
import { readAlerts, readOpenAlerts, type Alert } from '../../warehouse/alerts/read-alerts.ts';
import { pauseConnection } from '../../warehouse/connections/pause-connection.ts';
import { removeConnection } from '../../warehouse/connections/remove-connection.ts';
import { withScheduleState } from '../../warehouse/connections/schedule-state.ts';
import { eventually } from '../support/eventually.ts';
import { proofTest } from '../support/proof-test.ts';
import { row } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { createTestNamespace } from '../support/temporal-namespace.ts';
import { addStream } from './facts.ts';

const { warehouse } = await createTestDatabase();

let name: string;
beforeEach(async () => {
  await warehouse.pool.query('delete from sync.connections; delete from sync.alerts');
  name = await addTestConnection(warehouse);
});

test('the cause of a stuck workflow is not repeated if somebody else wrote it', async () => {
  const { client } = await createTestNamespace();
  const problems = defineSearchAttributeKey('TemporalReportedProblems', SearchAttributeType.KEYWORD_LIST);
  const workflowId = workflowIds.approval(name);
  await client.workflow.start('awaitApproval', {
    taskQueue: mainQueue,
    workflowId,
    startDelay: '1 hour',
    typedSearchAttributes: [
      {
        key: problems,
        value: ['category=WorkflowTaskFailed', 'cause=<!channel> <https://example.com|Sign in>'],
      },
    ],
  });
  const stuck = await eventually(async () => {
    const seen = await readStuckWorkflows(client);
    return seen.length === 0 ? undefined : seen;
  });
  expect(stuck).toEqual([{ workflowId, connection: undefined, cause: undefined }]);
});

proofTest(
  'a workflow that no worker can continue opens an alert of its connection, which ends with the workflow',
  async () => {
    const { client, address, namespace } = await createTestNamespace();
    await startBrokenWorker({ address, namespace });
    const handle = await client.workflow.start('syncConnection', {
      taskQueue: mainQueue,
      workflowId: workflowIds.sync(name),
      typedSearchAttributes: [{ key: searchAttributes.connection, value: name }],
    });
    // Anyone who reaches the server can start other workflows, under any id.
    for (const workflowId of ['sync/a\0', '<!channel> <https://example.com|sign in again>'])
      await client.workflow.start('noSuchWorkflow', { taskQueue: mainQueue, workflowId });
    // Temporal reports this once the task has failed five times, with growing pauses.
    const query = 'TemporalReportedProblems is not null';
    await eventually(async () => ((await client.workflow.count(query)).count >= 3 ? true : undefined), 180);
    const stuck = await readStuckWorkflows(client);
    expect(await judged({ stuck })).toMatchObject([
      {
        kind: 'stuck',
        connection_id: name,
        message: `${name}: Temporal has workers retry the workflow sync/${name} (WorkflowTaskFailedCauseWorkflowWorkerUnhandledFailure) again and again, and it fails each time.`,
        remedy: expect.stringContaining('newest release in every worker') as string,
      },
    ]);
    expect(await readRetries(handle)).toEqual([
      expect.stringMatching(/^No worker can continue it: its workflow task has failed [5-9] times\./),
    ]);
    await handle.terminate('given up');
    await eventually(async () => ((await readStuckWorkflows(client)).length === 0 ? true : undefined));
    expect(await judged({ stuck: await readStuckWorkflows(client) })).toEqual([]);
  },
  240_000,
);

test('an alert of a stuck workflow stays while Temporal does not answer', async () => {
  const stuck = [{ workflowId: `sync/${name}`, connection: name, cause: undefined }];
  const [told] = await judged({ stuck });
  expect(told).toMatchObject({ message: expect.stringContaining('no cause is known') as string });
  expect(await judged({})).toEqual([told]);
  expect(await judged({ stuck: [] })).toEqual([]);
});

test('stuck workflows of one connection share an alert, and those of none or of a removed one share another', async () => {
  const stuck = ['b', 'a'].flatMap((id) => [
    { workflowId: `sync/${id}`, connection: name, cause: 'One' },
    { workflowId: `marts/${id}`, connection: undefined, cause: 'Two' },
  ]);
  const [gone, ours] = await judged({
    stuck: [...stuck, { workflowId: 'sync/gone', connection: 'gone', cause: 'x' }],
  });
  expect(ours).toMatchObject({ connection_id: name });
  expect(ours!.message).toContain('the workflow sync/a (One) and the workflow sync/b (One)');
  expect(gone).toMatchObject({ connection_id: null });
  expect(gone!.message).toMatch(
    /^Temporal has workers retry .*marts\/a \(Two\) and .*marts\/b \(Two\) and .*sync\/gone \(x\)/,
  );
  await removeConnection(warehouse, { connectionId: name, keepData: false });
  expect(await readAlerts(warehouse, { limit: 10 })).toHaveLength(2);
});

proofTest(
  'schedules that Temporal did not fire while it was down are reported once it is back',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'daybook-missed-ticks-'));
    const options = {
      databaseFile: join(folder, 'temporal.db'),
      port: await freePort(),
      uiPort: await freePort(),
      report: () => undefined,
    };
    let server = await startTemporal(options);
    onTestFinished(async () => {
      await server.stop();
      await rm(folder, { recursive: true });
    });
    const { client } = await createTestNamespace(server.address);
    const places = { warehouse, temporal: client };
    await warehouse.pool.query(`update sync.connections set sync_every = interval '1 second'`);
    await addStream(warehouse, { connection: name, stream: 'bills' });
    await updateSchedules(places, { connectionId: name });
    expect(await judged({})).toEqual([]);
    const schedule = client.schedule.getHandle(scheduleIds.connection('sync', name));
    await eventually(async () =>
      (await schedule.describe()).info.recentActions.length > 0 ? true : undefined,
    );
    await server.stop();
    const away = Date.now();
    // Missed runs are caught up for 10 s at least, but not after 15 s.
    await eventually(() => Promise.resolve(Date.now() - away > 15_000 || undefined), 30);
    server = await startTemporal(options);
    await eventually(async () => {
      await updateSchedules(places, { connectionId: name });
      return row(warehouse, 'select from sync.connections where ticks_missed_at is not null');
    }, 60);
    expect(await judged({})).toMatchObject([
      {
        kind: 'missed',
        connection_id: null,
        message: expect.stringContaining(`Schedules of ${name} did`) as string,
      },
    ]);
  },
  120_000,
);

test('the missed alert ends with the next sync, and ignores a count from before the first look', async () => {
  const second = await addTestConnection(warehouse);
  await warehouse.pool.query(`update sync.connections set sync_every = interval '1 hour'`);
  for (const connection of [name, second]) await addStream(warehouse, { connection, stream: 'bills' });
  await look(name, 7);
  expect(await judged({})).toEqual([]);
  for (const [connection, missed] of [
    [name, 8],
    [second, 0],
    [second, 3],
  ] as const)
    await look(connection, missed);
  const [both] = await judged({});
  expect(both).toMatchObject({ kind: 'missed', connection_id: null });
  expect(both!.message).toContain('Schedules of 2 connections, such as');
  // Another look finds no change.
  await look(name, 8);
  expect(await judged({})).toEqual([both]);
  await pauseConnection(warehouse, { connectionId: second, why: 'month end' });
  const [one] = await judged({});
  expect(one!.message).toContain(`Schedules of ${name} did`);
  await addStream(warehouse, { connection: name, stream: 'bills' });
  expect(await judged({})).toEqual([]);
  // A schedule that was created anew counts from 0.
  await look(name, 0);
  expect(await judged({})).toEqual([]);
});

test('work that waits for a worker is counted, and reported after more than five minutes', async () => {
  const { client } = await createTestNamespace();
  expect(await readBacklog(client)).toEqual({ steps: 0, oldestSeconds: 0 });
  await client.workflow.start('syncConnection', { taskQueue: mainQueue, workflowId: workflowIds.sync(name) });
  const seen = await eventually(async () => {
    const backlog = await readBacklog(client);
    return backlog?.steps === 1 && backlog.oldestSeconds > 0 ? backlog : undefined;
  });
  expect(await judged({ backlog: seen })).toEqual([]);
  const [told] = await judged({ backlog: { steps: 9_154, oldestSeconds: 866 } });
  expect(told).toMatchObject({
    kind: 'backlog',
    connection_id: null,
    message: '9,154 steps of runs wait for a worker, the oldest for 14 min.',
  });
  expect(await judged({})).toEqual([told]);
  expect(await judged({ backlog: { steps: 12, oldestSeconds: 20 } })).toEqual([]);
});

test('the backlog alert replaces new stale alerts of connections while work waits', async () => {
  await warehouse.pool.query(
    `update sync.connections set sync_every = interval '1 minute', created_at = now() - interval '1 day'`,
  );
  const late = { steps: 9_154, oldestSeconds: 866 };
  expect(await judged({ backlog: late }, { pausedElsewhere: [] })).toMatchObject([{ kind: 'backlog' }]);
  const both = await judged({}, { pausedElsewhere: [] });
  expect(both.map(({ kind }) => kind)).toEqual(['backlog', 'stale']);
  // The earlier alert stays.
  expect(await judged({ backlog: late }, { pausedElsewhere: [] })).toEqual(both);
});

/** Judges alerts, and returns the open ones, those without a connection first. */
async function judged(
  state: Omit<TemporalState, 'pausedElsewhere'>,
  { pausedElsewhere = [name] }: { pausedElsewhere?: string[] } = {},
): Promise<Alert[]> {
  await judgeAlerts(warehouse, { pausedElsewhere, ...state });
  const open = await readOpenAlerts(warehouse);
  return open.sort((one, other) => (one.connection_id ?? '').localeCompare(other.connection_id ?? ''));
}

/** Records that Temporal was asked for the schedules of a connection. */
async function look(connectionId: string, missed: number): Promise<void> {
  await withScheduleState(warehouse, connectionId, (_, notes) =>
    notes.settled([{ connectionId, as: 'as wanted', pauseReached: false, missed }]),
  );
}

/** Starts a worker of a release that cannot continue workflows of another one. */
async function startBrokenWorker({
  address,
  namespace,
}: {
  address: string;
  namespace: string;
}): Promise<void> {
  const folder = await mkdtemp(join(import.meta.dirname, 'broken-'));
  const workflowsPath = join(folder, 'workflows.js');
  await writeFile(workflowsPath, `export async function syncConnection() { throw new TypeError('broken'); }`);
  const connection = await NativeConnection.connect({ address });
  const worker = await Worker.create({ connection, namespace, taskQueue: mainQueue, workflowsPath });
  const ended = worker.run();
  onTestFinished(async () => {
    worker.shutdown();
    await ended;
    await connection.close();
    await rm(folder, { recursive: true });
  });
}
