import type { ScheduleDescription } from '@temporalio/client';
import { expect, test } from 'vitest';
import type { ConnectionListed } from '../../warehouse/connections/list-connections.ts';
import { blockWrites } from '../support/blocked-session.ts';
import { startDaybook } from '../support/daybook-process.ts';
import { eventually } from '../support/eventually.ts';
import { createInstallation, secretKey } from '../support/installation.ts';
import { proofTest, some } from '../support/proof-test.ts';
import { row } from '../support/rows.ts';
import { sync } from '../support/sync.ts';

const installation = await createInstallation({ commandsInOneProcess: true });
const { client: temporal, warehouse } = installation;

/** A Temporal address at which nothing listens. */
const away = { TEMPORAL_ADDRESS: '127.0.0.1:9' };
const hour = 3_600_000;

test('a connection is added with a sync every 15 minutes and a reconcile every day', async () => {
  const { code, stdout } = await add('by-default');
  expect(code).toBe(0);
  expect(stdout).toContain('Added by-default: synced every 15m, reconciled every 1d.');
  expect((await schedule('sync/by-default')).spec.intervals?.[0]?.every).toBe(hour / 4);
  expect((await schedule('reconcile/by-default')).spec.intervals?.[0]?.every).toBe(24 * hour);
});

proofTest('a connection can be added with its own intervals, or without schedules', async () => {
  await add('by-hand', '--every', '5m', '--reconcile-every', 'off');
  expect((await schedule('sync/by-hand')).spec.intervals?.[0]?.every).toBe(hour / 12);
  await expect(schedule('reconcile/by-hand')).rejects.toThrow();
  expect((await add('unscheduled', '--no-schedule')).stdout).toContain('synced on request');
  await expect(schedule('sync/unscheduled')).rejects.toThrow();
});

proofTest('status says that a connection without a sync schedule is paused, and why', async () => {
  await add('paused-by-hand', '--no-schedule');
  expect((await connection('pause', 'paused-by-hand', '--why', 'the books are closed')).code).toBe(0);
  const { stdout } = await installation.run(['status', 'paused-by-hand']);
  expect(stdout).toContain('paused: the books are closed');
});

test('intervals can be changed, switched off and listed', async () => {
  await add('changed');
  const set = await connection('set', 'changed', '--every', '2h');
  expect(set).toMatchObject({ code: 0, stdout: 'changed: synced every 2h, reconciled every 1d.\n' });
  const { code, stdout } = await connection('set', 'changed', '--reconcile-every', 'off');
  expect({ code, stdout }).toEqual({ code: 0, stdout: 'changed: synced every 2h, reconciled on request.\n' });
  expect((await schedule('sync/changed')).spec.intervals?.[0]?.every).toBe(2 * hour);
  await expect(schedule('reconcile/changed')).rejects.toThrow();
  expect(await listed('changed')).toMatchObject({
    every_seconds: 7_200,
    reconcile_every_seconds: null,
    paused: null,
  });
  expect((await connection('list')).stdout).toMatch(/changed .*every 2h .*on request/);
});

test('a connection can be paused with a reason, which is shown, and resumed', async () => {
  await add('paused');
  expect((await connection('pause', 'paused', '--why', 'month end')).code).toBe(0);
  expect((await schedule('sync/paused')).state).toMatchObject({
    paused: true,
    note: 'Paused by Daybook: month end',
  });
  expect(await listed('paused')).toMatchObject({ paused: { why: 'month end' } });
  const status = await installation.run(['status', 'paused']);
  expect(status.stdout).toContain('paused: month end');
  expect((await connection('resume', 'paused')).code).toBe(0);
  expect((await schedule('sync/paused')).state.paused).toBe(false);
  expect(await listed('paused')).toMatchObject({ paused: null });
});

test('a removed connection takes its schedules with it', async () => {
  await add('removed');
  expect((await connection('remove', 'removed')).code).toBe(0);
  await expect(schedule('sync/removed')).rejects.toThrow();
  await expect(schedule('reconcile/removed')).rejects.toThrow();
});

proofTest(
  'a long removal reports progress; once interrupted, it keeps the name and continues when run again',
  async () => {
    await add('interrupted');
    const block = await blockWrites(installation.databaseUrl, 'finance.bills');
    const { cwd, env } = installation;
    const removing = startDaybook(['connection', 'remove', 'interrupted'], { cwd, env });
    await removing.waitForOutput(
      /Removing interrupted: [\d,]+ rows deleted, now deleting from .* run the command again to continue\./,
    );
    await expect(schedule('sync/interrupted')).rejects.toThrow();
    await removing.stop('SIGINT');
    await block.letGo();
    const isGoing = /The removal of interrupted began at .*: npx daybook connection remove interrupted\n/;
    expect((await connection('list')).stdout).toMatch(isGoing);
    expect((await installation.run(['status'])).stdout).toMatch(isGoing);
    const sooner = await add('interrupted');
    expect(sooner.code).toBe(1);
    expect(sooner.stderr).toContain('interrupted is being removed: run the command again to finish');
    expect(await connection('remove', 'interrupted')).toMatchObject({
      ...{ code: 0, stderr: '', stdout: 'Removed interrupted and all of its records.\n' },
    });
    expect((await connection('list')).stdout).not.toContain('interrupted');
    expect((await add('interrupted')).code).toBe(0);
  },
);

proofTest(
  'commands without Temporal store the change and say so, and the next worker applies it',
  async () => {
    await add('gone');
    await add('kept');
    const ended = await Promise.all([
      connectionWithout('add', 'late', '--token-stdin', '--every', '10m'),
      connectionWithout('remove', 'gone'),
      connectionWithout('set', 'kept', '--every', '3h').then(async (set) => {
        const paused = await connectionWithout('pause', 'kept', '--why', 'month end');
        return { ...paused, code: set.code === 0 ? paused.code : set.code };
      }),
    ]);
    for (const { code, stderr } of ended) {
      expect(code).toBe(0);
      expect(stderr).toMatch(
        /Temporal cannot be reached; the schedules of \S+ will be updated when a worker starts\./,
      );
    }
    const worker = await installation.startWorker();
    await eventually(async () => ((await schedule('sync/late')).spec.intervals ? true : undefined));
    await eventually(async () => ((await schedule('sync/kept')).state.paused ? true : undefined));
    expect((await schedule('sync/late')).spec.intervals?.[0]?.every).toBe(hour / 6);
    expect((await schedule('sync/kept')).spec.intervals?.[0]?.every).toBe(3 * hour);
    await eventually(() =>
      schedule('sync/gone').then(
        () => undefined,
        () => true,
      ),
    );
    await worker.stop();
  },
);

test.each(some([['set', '--every', '1h'], ['pause', '--why', 'x'], ['resume']]))(
  '%s of an unknown connection says how to list connections',
  async (command, ...options) => {
    const { code, stderr } = await connection(command, 'nobody', ...options);
    expect(code).toBe(1);
    expect(stderr).toBe('There is no connection nobody. "daybook connection list" lists them.\n');
  },
);

test('the configured key can be rotated to a given one, which is never printed', async () => {
  await add('rotated', '--no-schedule');
  const rotate = (newKey: string, key = secretKey): ReturnType<typeof connection> =>
    installation.run(['connection', 'rotate-key', '--new-key-env', 'NEW_KEY'], {
      env: { NEW_KEY: newKey, DAYBOOK_SECRET_KEY: key.toString('base64') },
    });
  const other = Buffer.alloc(32, 'o');
  expect(await rotate('short')).toMatchObject({ code: 2 });
  const rotated = await rotate(other.toString('base64'));
  expect(rotated).toMatchObject({ code: 0, stderr: '' });
  expect(rotated.stdout).toContain('Set DAYBOOK_SECRET_KEY to the new key');
  expect(rotated.stdout).not.toContain(other.toString('base64'));
  expect(await rotate(Buffer.alloc(32, 'x').toString('base64'))).toMatchObject({ code: 2 });
  expect(await rotate(secretKey.toString('base64'), other)).toMatchObject({ code: 0 });
});

test('status exits with 3 when a connection is stale, and says so', async () => {
  await add('stale');
  expect((await installation.run(['status', 'stale'])).code).toBe(0);
  await warehouse.pool.query(
    `update sync.connections set created_at = now() - interval '31 minutes' where connection_id = 'stale'`,
  );
  const { code, stdout } = await installation.run(['status', 'stale']);
  expect(code).toBe(3);
  expect(stdout).toContain('stale: a stream was not complete for more than twice that time');
  await connection('pause', 'stale');
  expect((await installation.run(['status', 'stale'])).code).toBe(0);
  await connection('resume', 'stale');
  await connection('set', 'stale', '--every', 'off');
  expect(await statusOf('stale')).toMatchObject({ stale: false, every_seconds: null, next_run_at: null });
});

proofTest(
  'the stream that was complete longest ago makes a connection stale, and unsupported streams do not count',
  async () => {
    const worker = await installation.startWorker();
    const name = await installation.connect({ platform: 'XERO', records: 20 });
    await sync(installation, name);
    await connection('set', name, '--every', '15m');
    const { stale } = await statusOf(name);
    expect(stale).toBe(false);
    const { unsupported } = await row(
      warehouse,
      `select count(*) as unsupported from sync.streams where connection_id = $1 and capability = 'unsupported'`,
      [name],
    );
    expect(Number(unsupported)).toBeGreaterThan(0);
    await warehouse.pool.query(
      `update sync.streams set last_success_at = now() - interval '31 minutes' where connection_id = $1 and stream = 'bills'`,
      [name],
    );
    expect((await statusOf(name)).stale).toBe(true);
    await worker.stop();
  },
);

proofTest(
  'status shows intervals, pauses, failures and the next run, including pauses from the Web UI',
  async () => {
    await add('told', '--every', '1h');
    const told = await statusOf('told');
    expect(told).toMatchObject({ every_seconds: 3_600, paused: null, stale: false, failures: 0 });
    expect(Date.parse(told.next_run_at ?? '')).toBeGreaterThan(Date.now());
    await temporal.schedule.getHandle('sync/told').pause('the auditors are here');
    await warehouse.pool.query(
      `update sync.connections set created_at = now() - interval '1 day' where connection_id = 'told'`,
    );
    expect(await statusOf('told')).toMatchObject({
      paused: { why: 'the auditors are here', since: null },
      stale: false,
      next_run_at: null,
    });
    const { stdout } = await installation.run(['status', 'told', '--json'], { env: away });
    const { connections } = JSON.parse(stdout) as { connections: Status[] };
    expect(connections[0]).toMatchObject({ every_seconds: 3_600, paused: null, next_run_at: null });
  },
);

interface Status {
  stale: boolean;
  every_seconds: number | null;
  next_run_at: string | null;
}

async function statusOf(name: string): Promise<Status> {
  const { stdout } = await installation.run(['status', name, '--json']);
  const { connections } = JSON.parse(stdout) as { connections: Status[] };
  const [status] = connections;
  if (status === undefined) throw new Error(`status does not show ${name}.`);
  return status;
}

async function listed(name: string): Promise<ConnectionListed | undefined> {
  const { stdout } = await connection('list', '--json');
  return (JSON.parse(stdout) as ConnectionListed[]).find(({ connection_id }) => connection_id === name);
}

function add(name: string, ...options: string[]): ReturnType<typeof installation.run> {
  return installation.run(['connection', 'add', name, '--token-stdin', ...options], { input: 'a-token' });
}

function connection(...args: string[]): ReturnType<typeof installation.run> {
  return installation.run(['connection', ...args]);
}

function connectionWithout(...args: string[]): ReturnType<typeof installation.run> {
  return installation.run(['connection', ...args], { env: away, input: 'a-token' });
}

function schedule(id: string): Promise<ScheduleDescription> {
  return temporal.schedule.getHandle(id).describe();
}
