import { ScheduleNotFoundError, ScheduleOverlapPolicy } from '@temporalio/client';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDaybook, type DaybookProcess } from '../support/daybook-process.ts';
import { eventually } from '../support/eventually.ts';
import { createInstallation } from '../support/installation.ts';
import { pathWithoutPython } from '../support/path-without-python.ts';
import { proofTest, some } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';

// Two warehouses with their own databases and sandboxes are pointed at one namespace, as a user would do it.
const first = await createInstallation();
const second = await createInstallation();
const third = await createInstallation();
const shared = { TEMPORAL_NAMESPACE: first.namespace, ...(await pathWithoutPython(second.cwd)) };
const books = await first.connect();
const others = await second.connect();
const ofFirst = new RegExp(
  `belongs to warehouse [0-9a-f]{8} \\(database [^ ]*${new URL(first.databaseUrl).pathname}, API ${first.sandbox.url}\\) since .* UTC, and this one is warehouse .*--take-over`,
);
const processes: DaybookProcess[] = [];
let worker: DaybookProcess;

beforeAll(async () => {
  worker = await first.startWorker();
  const set = await first.run(['connection', 'set', books, '--every', '1h', '--reconcile-every', '1d']);
  expect(set).toMatchObject({ code: 0 });
});
afterAll(() => Promise.all(processes.map((one) => one.stop('SIGKILL'))));

test.each(some([['worker'], ['up'], ['serve']]))(
  "another warehouse's %s exits with 2 before it polls, and names the owner and the remedy",
  async (command) => {
    const started = start([command]);
    const { code, stderr } = await started.ended;
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(ofFirst) as unknown });
    const { password } = new URL(first.databaseUrl);
    expect(stderr).not.toContain(password);
    expect(await pollingProcesses()).toEqual([worker.pid]);
  },
);

proofTest("the first warehouse's ticks all succeed while another warehouse is refused", async () => {
  const tries = Promise.all([start(['worker']).ended, start(['up']).ended]);
  for (let tick = 1; tick <= 6; tick += 1) {
    // The previous tick may still have to finish after its sync.
    await first.client.schedule.getHandle(`sync/${books}`).trigger(ScheduleOverlapPolicy.BUFFER_ONE);
    await eventually(async () => ((await finishedSyncs()).length >= tick ? true : undefined));
  }
  expect((await tries).map(({ code }) => code)).toEqual([2, 2]);
  expect(new Set(await finishedSyncs())).toEqual(new Set(['succeeded']));
  const ticks = first.client.workflow.list({ query: `WorkflowType = 'scheduledStart'` });
  const results = [];
  // The last tick may still have to finish after its sync. A failed one rejects here.
  for await (const { workflowId } of ticks) {
    results.push(JSON.stringify(await first.client.workflow.getHandle(workflowId).result()));
  }
  expect(results.filter((result) => result.includes('any more'))).toEqual([]);
});

test.each(
  some(
    [
      [['sync', others]],
      [['reconcile', others]],
      [['backfill', others, '--from', '2024-01-01', '--to', '2024-02-01']],
      [['backfill', others, '--last', '90d', '--every', '7d']],
      [['export']],
      [['export', '--every', '1h']],
      [['connection', 'pause', others]],
      [['connection', 'resume', others]],
      [['connection', 'set', others, '--every', '5m']],
      [['connection', 'remove', others]],
      [['connection', 'add', books, '--token-env', 'SOME_TOKEN']],
    ],
    2,
  ),
)('`daybook %s` in the namespace of another warehouse exits with 2 and changes nothing', async (args) => {
  const before = await settingsOfSecond();
  const { code, stderr } = await second.run(args, { env: { ...shared, SOME_TOKEN: 'a token' } });
  expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringMatching(ofFirst) as unknown });
  expect(await settingsOfSecond()).toEqual(before);
});

test('status and doctor name the owner of the namespace', async () => {
  const status = await second.run(['status'], { env: shared });
  expect(status).toMatchObject({ code: 0, stdout: expect.stringMatching(ofFirst) as unknown });
  const json = await second.run(['status', '--json'], { env: shared });
  expect(JSON.parse(json.stdout)).toMatchObject({
    temporal: { owner: { api: first.sandbox.url }, trouble: expect.stringMatching(ofFirst) as unknown },
  });
  const doctor = await second.run(['doctor'], { env: shared });
  expect(doctor).toMatchObject({ code: 1, stdout: expect.stringMatching(ofFirst) as unknown });
  expect(doctor.stdout).toMatch(/✗ worker: 1 polling, maybe for another owner/);
  const own = await first.run(['doctor']);
  expect(own.stdout).toMatch(
    /✓ owner of the namespace: warehouse [0-9a-f]{8} \(database .*\n✓ search attributes.*\n! fairness: .*\n✓ worker/,
  );
  expect((await first.run(['status', '--json'])).stdout).toContain('"trouble": null');
});

proofTest(
  'a takeover stops the running worker with 2 and removes its schedules, until the first warehouse takes it back',
  async () => {
    const taker = start(['worker', '--take-over']);
    await taker.waitForOutput(/waiting 25 s for the workers of the previous owner to stop/);
    const { code, stderr } = await worker.ended;
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringMatching(/belongs to warehouse .* and this one is warehouse/) as unknown,
    });
    await taker.waitForOutput(/worker is ready/);
    await eventually(async () => ((await hasSchedule(`sync/${books}`)) ? undefined : true));
    expect(await second.run(['sync', others], { env: shared })).toMatchObject({ code: 0 });
    expect(await first.run(['sync', books])).toMatchObject({ code: 2 });

    const back = startDaybook(['worker', '--take-over'], { cwd: first.cwd, env: first.env });
    processes.push(back);
    await back.waitForOutput(/worker is ready/);
    expect(await taker.ended).toMatchObject({ code: 2 });
    await eventually(async () => ((await hasSchedule(`sync/${books}`)) ? true : undefined));
    expect(await first.run(['sync', books])).toMatchObject({ code: 0 });
  },
);

proofTest('the help of every command with --take-over has an example of it', async () => {
  for (const command of ['worker', 'up'])
    expect((await second.run([command, '--help'])).stdout).toMatch(/--take-over [\s\S]*\$ .*--take-over/);
});

proofTest('two workers of one warehouse can start at once', async () => {
  const [one, two] = await Promise.all([third.startWorker(), third.startWorker()]);
  expect(await rows(third.warehouse, 'select next_token from sync.namespace_claims')).toEqual([
    { next_token: null },
  ]);
  await Promise.all([one.stop(), two.stop()]);
});

function start(args: readonly string[]): DaybookProcess {
  const env = { ...second.env, ...shared };
  const started = startDaybook(args, { cwd: second.cwd, env });
  processes.push(started);
  return started;
}

/** Ids of the processes that have polled for work in this namespace. */
async function pollingProcesses(): Promise<number[]> {
  const { pollers } = await first.client.workflowService.describeTaskQueue({
    namespace: first.namespace,
    taskQueue: { name: 'daybook' },
  });
  return pollers.map(({ identity }) => Number(identity?.split('@')[0]));
}

async function finishedSyncs(): Promise<unknown[]> {
  const runs = await rows(
    first.warehouse,
    `select status from sync.runs where kind = 'sync' and status <> 'running'`,
  );
  return runs.map(({ status }) => status);
}

async function settingsOfSecond(): Promise<unknown> {
  return {
    connections: await rows(second.warehouse, 'select * from sync.connections order by 1'),
    settings: await rows(
      second.warehouse,
      `select * from sync.settings where name <> 'alerts_judged_at' order by 1`,
    ),
  };
}

async function hasSchedule(id: string): Promise<boolean> {
  try {
    await first.client.schedule.getHandle(id).describe();
    return true;
  } catch (error) {
    if (error instanceof ScheduleNotFoundError) return false;
    throw error;
  }
}
