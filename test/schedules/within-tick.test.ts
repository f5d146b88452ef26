import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { ScheduledStartInput, ScheduledStarted } from '../../activities/start-scheduled.ts';
import { countEvents } from '../support/count-events.ts';
import { setSchedule } from '../../warehouse/connections/set-schedule.ts';
import type { RunRead } from '../../warehouse/runs/read-run.ts';
import type { FaultRuleInput } from '../../sandbox/faults/fault-rule.ts';
import { changeBill, readIds } from '../webhooks/company.ts';
import { untilEvents } from '../rerun/until-events.ts';
import { blockWrites, waitingSessions } from '../support/blocked-session.ts';
import { eventually } from '../support/eventually.ts';
import { readSearchAttributes } from '../support/workflow-history.ts';
import { createInstallation } from '../support/installation.ts';
import { proofDescribe, proofTest, some } from '../support/proof-test.ts';
import { resetTo } from '../support/reset.ts';
import { row, rows } from '../support/rows.ts';
import type { startSync } from '../support/sync.ts';
import { awaitSync, readRunByTemporalId, statusesOf, sync, sumOverStreams } from '../support/sync.ts';

const installation = await createInstallation({ env: { DAYBOOK_GIVE_UP_AFTER: '2s' } });
const { admin, client, databaseUrl, warehouse } = installation;
await installation.startWorker();

const hour = 3_600_000;

beforeEach(() => admin.configure({}));
afterEach(() => admin.clearFaults());

describe('a tick that has little to do', () => {
  test('runs the sync itself with one action beside its start, at most 15 events and one request of each list', async () => {
    const connection = await scheduled();
    await sync(installation, connection);
    await admin.clearRequests();
    const tick = await startTick(connection);
    expect(await tick.result()).toMatchObject({ quiet: true, status: 'succeeded' });
    expect((await admin.requests()).filter((request) => request.connection === connection)).toHaveLength(8);
    const { events, actions } = await countEvents(tick);
    expect(events).toBeLessThanOrEqual(15);
    expect(actions).toBe(2);
    const run = await readRunByTemporalId({ warehouse }, tick.firstExecutionRunId);
    expect(run).toMatchObject({
      run_id: tick.firstExecutionRunId,
      workflow_id: tick.workflowId,
      temporal_run_id: tick.firstExecutionRunId,
      status: 'succeeded',
      reason: 'schedule',
    });
    expect(run.streams).toHaveLength(8);
    expect(sumOverStreams(run, 'requests')).toBe(8);
  });

  test('lands changes and deletions', async () => {
    const connection = await scheduled();
    await sync(installation, connection);
    await admin.activity({ connection, changes: 10 });
    const [id = ''] = await readIds(installation, connection);
    await admin.execute({ kind: 'delete', connection, resource: 'bills', id, event: true });
    expect(await runTick(connection)).toMatchObject({ quiet: true, status: 'succeeded' });
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  proofTest('runs after people and before backfills, on the queue for reading pages', async () => {
    const connection = await scheduled();
    const tick = await startTick(connection);
    await tick.result();
    const scheduledActivity = (await tick.fetchHistory()).events?.find(
      (event) => event.activityTaskScheduledEventAttributes,
    )?.activityTaskScheduledEventAttributes;
    expect(scheduledActivity?.priority).toMatchObject({ priorityKey: 3, fairnessKey: connection });
    expect(scheduledActivity?.taskQueue?.name).toBe('daybook-io');
  });
});

describe('the sync workflow continues the run of a tick', () => {
  test('if a list has more than one page', async () => {
    const connection = await scheduled();
    await admin.configure({ maximumLimit: 5 });
    const { run, workflow } = await expectContinued(connection);
    expect(run.status).toBe('succeeded');
    expect(await readSearchAttributes(workflow)).toMatchObject({ DaybookPhase: 'succeeded' });
    const { priority } = await workflow.describe();
    expect(priority).toMatchObject({ priorityKey: 3, fairnessKey: connection });
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  proofTest('if the service asks for a pause', async () => {
    const connection = await scheduled();
    const fault = { kind: 'status', status: 429, code: 'RATE_LIMIT_EXCEEDED', retryAfter: '2' } as const;
    await admin.addFault({ match: { connection, path: '/accounting/items' }, times: 1, fault });
    const { run, started } = await expectContinued(connection);
    expect(started).toMatchObject({ why: 'rate limited' });
    expect(run.status).toBe('succeeded');
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  proofTest('if the company is not ready, even if dataReady arrives right away', async () => {
    const connection = await scheduled({ ready: false });
    const started = await runTick(connection);
    expect(started).toMatchObject({ why: 'not ready' });
    const workflow = client.workflow.getHandle(`sync/${connection}`);
    await admin.execute({ kind: 'make-ready', connection });
    await workflow.signal('dataReady');
    await workflow.result();
    const runs = await readRuns(connection);
    expect(runs).toMatchObject([{ status: 'succeeded', workflow_id: `sync/${connection}` }]);
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  proofTest('and a second run reads a change that is announced after the tick has read a part', async () => {
    const connection = await scheduled();
    await admin.configure({ maximumLimit: 5 });
    const blocked = await blockWrites(databaseUrl, 'finance.items');
    await runTick(connection);
    await waitingSessions(databaseUrl);
    const [id = ''] = await readIds(installation, connection);
    await changeBill(installation, connection, { id, memo: 'announced' });
    await client.workflow.getHandle(`sync/${connection}`).signal('dataReady');
    await blocked.letGo();
    await client.workflow.getHandle(`sync/${connection}`).result();
    expect((await readRuns(connection)).map(({ status }) => status)).toEqual(['succeeded', 'succeeded']);
    expect((await installation.compare(connection)).differences).toEqual([]);
  });

  test('even if it is reset while it reads: what it has read until then counts as read', async () => {
    const connection = await scheduled();
    await admin.configure({ maximumLimit: 5 });
    const slow = {
      match: { connection, path: '/accounting/bills' },
      fault: { kind: 'slow', ms: 400 },
    } as const;
    await admin.addFault(slow);
    await runTick(connection);
    const handle = client.workflow.getHandle(`sync/${connection}`);
    // Other lists are done, and the bills are under way.
    await untilEvents(installation, handle, 25);
    const again = await resetTo(installation, handle, -1);
    await admin.clearFaults();
    await again.result();
    const run = await readRunByTemporalId({ warehouse }, again.temporalRunId);
    expect(run).toMatchObject({ status: 'succeeded', failure: null });
    await expectExact(connection);
  });

  proofTest('only once: a copy of its input is a run of its own, and so is a reset', async () => {
    const connection = await scheduled();
    await admin.configure({ maximumLimit: 5 });
    const { run, workflow } = await expectContinued(connection);
    const again = await resetTo(installation, workflow, 1);
    await again.result();
    const adopts = { runId: run.run_id };
    const copy = await client.workflow.start('syncConnection', {
      workflowId: `sync/${connection}`,
      taskQueue: 'daybook',
      args: [{ connection, reason: 'schedule', adopts }],
    });
    await copy.result();
    expect(await readRuns(connection)).toMatchObject([
      { run_id: run.run_id, temporal_run_id: run.temporal_run_id, status: 'succeeded' },
      { run_id: again.temporalRunId, status: 'succeeded' },
      { run_id: copy.firstExecutionRunId, status: 'succeeded' },
    ]);
  });
});

/** Failures are judged as if nobody had tried before. */
describe('a sync ends the same whether a tick or a person starts it', () => {
  const refused = { kind: 'status', status: 401, code: 'INVALID_ACCESS_TOKEN' } as const;
  test.each<[string, { path: string; times?: number; fault: FaultRuleInput['fault'] }]>(
    some([
      ['a token that is refused', { path: '/', fault: refused }],
      ['a list that is forbidden', { path: '/accounting/customers', fault: { kind: 'status', status: 403 } }],
      [
        'a list that is gone',
        { path: '/accounting/items', fault: { kind: 'status', status: 404, code: 'NOT_FOUND' } },
      ],
      [
        'a list that never was',
        { path: '/subscriptions', fault: { kind: 'status', status: 404, code: 'NOT_FOUND' } },
      ],
      ['no list at all', { path: '/', fault: { kind: 'status', status: 404, code: 'NOT_FOUND' } }],
      [
        'a service that fails for long',
        { path: '/accounting/bills', fault: { kind: 'status', status: 503 } },
      ],
      [
        'a service that fails once',
        { path: '/accounting/bills', times: 1, fault: { kind: 'status', status: 503 } },
      ],
      ['events that fail', { path: '/events', fault: { kind: 'status', status: 403 } }],
    ]),
  )('%s', async (what, { path, times, fault }) => {
    const endings = [];
    for (const by of ['person', 'tick']) {
      const connection = await scheduled();
      if (what === 'a list that is gone') await sync(installation, connection);
      const match = { connection, ...(path === '/' ? {} : { path }) };
      await admin.addFault({ match, fault, ...(times === undefined ? {} : { times }) });
      if (by === 'tick') {
        const started = await runTick(connection);
        if ('workflowId' in started)
          await client.workflow
            .getHandle(started.workflowId)
            .result()
            .catch(() => undefined);
      } else await sync(installation, connection);
      await admin.clearFaults();
      const [run] = (await readRuns(connection)).slice(-1);
      const known = await row(
        warehouse,
        'select failures, paused_by, paused_why from sync.connections where connection_id = $1',
        [connection],
      );
      const streams = await rows(
        warehouse,
        `select stream, status, failure_type from sync.run_streams where run_id = $1 order by stream`,
        [run?.run_id],
      );
      endings.push(JSON.stringify([run?.status, known, streams]).replaceAll(connection, 'NAME'));
    }
    expect(endings[1]).toBe(endings[0]);
  });
});

describe('concurrent starts', () => {
  test('two ticks of a connection leave no run open, and an exact copy', async () => {
    const connection = await scheduled();
    const ticks = await Promise.all([startTick(connection, 'a'), startTick(connection, 'b')]);
    for (const started of await Promise.all(ticks.map((tick) => tick.result())))
      if ('workflowId' in started) await client.workflow.getHandle(started.workflowId).result();
    await expectExact(connection);
  });

  test('a tick gives way to a sync that a person starts meanwhile', async () => {
    const connection = await scheduled();
    const blocked = await blockWrites(databaseUrl, 'finance.items');
    const tick = await startTick(connection);
    await waitingSessions(databaseUrl);
    const command = installation.run(['sync', connection]);
    await eventually(async () => ((await readRuns(connection)).length === 2 ? true : undefined));
    await blocked.letGo();
    expect((await command).code).toBe(0);
    expect(await tick.result()).toMatchObject({ workflowId: `sync/${connection}` });
    await client.workflow.getHandle(`sync/${connection}`).result();
    const runs = await expectExact(connection);
    expect(runs.map(({ status }) => status)).toEqual(['interrupted', 'succeeded']);
  });

  proofTest('a change that is announced during a tick is read', async () => {
    const connection = await scheduled();
    const blocked = await blockWrites(databaseUrl, 'sync.run_streams');
    const tick = await startTick(connection);
    await waitingSessions(databaseUrl);
    const [id = ''] = await readIds(installation, connection);
    await changeBill(installation, connection, { id, memo: 'announced' });
    await client.workflow.signalWithStart('syncConnection', {
      workflowId: `sync/${connection}`,
      taskQueue: 'daybook',
      args: [{ connection, reason: 'webhook' }],
      signal: 'dataReady',
      signalArgs: [],
    });
    await blocked.letGo();
    await tick.result();
    await client.workflow.getHandle(`sync/${connection}`).result();
    await expectExact(connection);
  });
});

test('a tick that cannot begin is retried after seconds, not immediately', async () => {
  const connection = await scheduled();
  await warehouse.pool.query('alter table sync.runs rename to runs_away');
  const tick = await startTick(connection);
  const [pending] = await eventually(async () => {
    const { pendingActivities: found } = (await tick.describe()).raw;
    return (found?.[0]?.attempt ?? 1) > 1 ? (found ?? undefined) : undefined;
  }).finally(() => warehouse.pool.query('alter table sync.runs_away rename to runs'));
  const { seconds, nanos } = pending?.currentRetryInterval ?? {};
  const interval = Number(seconds ?? 0) + (nanos ?? 0) / 1e9;
  expect(interval).toBeGreaterThan(3.9);
  expect(interval).toBeLessThan(6.1);
  expect(await tick.result()).toMatchObject({ quiet: true, status: 'succeeded' });
});

proofTest('a tick whose schedule is switched off before its retry leaves no run open', async () => {
  const connection = await scheduled();
  const blocked = await blockWrites(databaseUrl, 'finance.items');
  const tick = await startTick(connection);
  await waitingSessions(databaseUrl);
  await setSchedule(warehouse, { connectionId: connection, syncEvery: null });
  await warehouse.pool.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
  );
  expect(await tick.result()).toMatchObject({ skipped: expect.stringContaining('no schedule') as string });
  await blocked.letGo();
  expect((await readRunByTemporalId({ warehouse }, tick.firstExecutionRunId)).status).toBe('interrupted');
});

proofDescribe('a tick that is ended by hand', () => {
  test('leaves a run that the next tick closes if it is terminated', async () => {
    const connection = await scheduled();
    const blocked = await blockWrites(databaseUrl, 'finance.items');
    const tick = await startTick(connection, 'a');
    await waitingSessions(databaseUrl);
    await tick.terminate('test');
    await blocked.letGo();
    const started = await runTick(connection);
    if ('workflowId' in started) await client.workflow.getHandle(started.workflowId).result();
    const runs = await expectExact(connection);
    expect(runs.map(({ status }) => status)).toContain('succeeded');
  });

  test('closes its run if it is cancelled', async () => {
    const connection = await scheduled();
    const slow = { kind: 'slow', ms: 60_000 } as const;
    await admin.addFault({ match: { connection, path: '/accounting/items' }, fault: slow });
    const tick = await startTick(connection);
    await eventually(async () => ((await readRuns(connection)).length === 1 ? true : undefined));
    await tick.cancel();
    await expect(tick.result()).rejects.toMatchObject({ cause: { name: 'CancelledFailure' } });
    expect(await readRuns(connection)).toMatchObject([{ status: 'cancelled' }]);
  });
});

async function scheduled(more: { ready?: boolean } = {}): Promise<string> {
  const connectionId = await installation.connect({ records: 40, ...more });
  await setSchedule(warehouse, { connectionId, syncEvery: hour });
  return connectionId;
}

type Tick = Awaited<ReturnType<typeof startTick>>;

async function startTick(connection: string, name = 'tick') {
  return client.workflow.start<(input: ScheduledStartInput) => Promise<ScheduledStarted>>('scheduledStart', {
    workflowId: `scheduled/sync/${connection}/${name}`,
    taskQueue: 'daybook',
    args: [{ kind: 'sync', connection }],
  });
}

async function runTick(connection: string): ReturnType<Tick['result']> {
  return (await startTick(connection)).result();
}

/** Expects that a tick's run is completed by its workflow, as one run with one id. */
async function expectContinued(connection: string): Promise<{
  started: ScheduledStarted;
  run: RunRead;
  workflow: Awaited<ReturnType<typeof awaitSync>>['handle'];
}> {
  const tick = await startTick(connection);
  const started = await tick.result();
  const temporalRunId = 'workflowId' in started ? started.runId : '';
  const handle = client.workflow.getHandle(`sync/${connection}`) as Awaited<ReturnType<typeof startSync>>;
  const { run } = await awaitSync(installation, handle, temporalRunId);
  expect(run).toMatchObject({
    run_id: tick.firstExecutionRunId,
    workflow_id: `sync/${connection}`,
    temporal_run_id: temporalRunId,
  });
  expect(Object.keys(statusesOf(run))).toHaveLength(8);
  expect(await readRuns(connection)).toHaveLength(1);
  return { started, run, workflow: handle };
}

async function expectExact(connection: string): Promise<Awaited<ReturnType<typeof readRuns>>> {
  const runs = await readRuns(connection);
  expect(runs.map(({ status }) => status)).not.toContain('running');
  expect(
    await rows(
      warehouse,
      `select stream from sync.run_streams where connection_id = $1 and status = 'running'`,
      [connection],
    ),
  ).toEqual([]);
  expect((await installation.compare(connection)).differences).toEqual([]);
  return runs;
}

function readRuns(connection: string): Promise<Record<string, unknown>[]> {
  return rows(
    warehouse,
    `select run_id, workflow_id, temporal_run_id, status from sync.runs
     where connection_id = $1 and kind = 'sync' order by started_at`,
    [connection],
  );
}
