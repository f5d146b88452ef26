import { execFileSync } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { MartsPointer } from '../../marts/publish-on-lake.ts';
import { createInstallation } from '../support/installation.ts';
import { row, rows } from '../support/rows.ts';
import { sync } from '../support/sync.ts';
import { withinFiveMinutes } from '../support/eventually.ts';

const installation = await createInstallation();
const { run, warehouse, client, env } = installation;
const home = env.DAYBOOK_HOME ?? '';
const settings = join(home, 'seeds', 'connection_settings.csv');
const marts = client.workflow.getHandle('marts');
let worker = await installation.startWorker();
let company: string;

beforeAll(async () => {
  company = await installation.connect({ records: 40 });
  await sync(installation, company);
  expect((await run(['export'])).code).toBe(0);
  await marts.result();
});

test('an export has the marts built in Postgres and on the snapshot, and status says so', async () => {
  const { snapshot, marts: built } = await status();
  const today = new Date().toISOString().slice(0, 10);
  expect(snapshot).toMatchObject({
    status: 'succeeded',
    failure: null,
    age_seconds: expect.any(Number) as number,
  });
  expect(built.postgres).toMatchObject({ as_of_date: today, marts: 24, status: 'succeeded', failure: null });
  expect(built.lake).toMatchObject({ as_of_date: today, marts: 24, status: 'succeeded', failure: null });
  expect(built.lake.snapshot_id).toBe(snapshot.snapshot_id);
  expect((await pointer()).snapshot_id).toBe(snapshot.snapshot_id);
  expect(await row(warehouse, 'select count(*) from marts.bills')).toEqual(
    await row(warehouse, 'select count(*) from finance.bills'),
  );
  expect((await run(['status'])).stdout).toMatch(
    new RegExp(`^Marts in Postgres: 24 as of ${today}, built \\d+ (s|min) ago$`, 'm'),
  );
  expect((await run(['runs'])).stdout).toMatch(/marts \(postgres\)[\s\S]*marts \(lake\)[\s\S]*export/);
});

test('an export that is skipped on the same day starts no build', async () => {
  const before = await builds();
  expect(JSON.parse((await run(['export', '--json'])).stdout)).toMatchObject({ skipped: true });
  expect((await marts.describe()).status.name).toBe('COMPLETED');
  expect(await builds()).toEqual(before);
});

test('a failed test of the marts is in status and opens an alert; readers see the last good marts, and syncs go on', async () => {
  await mkdir(join(home, 'seeds'), { recursive: true });
  const twice = `${company},USD,multiply\n`;
  await writeFile(settings, `connection_id,base_currency,fx_direction\n${twice}${twice}`);
  const shown = await shownBills();
  const { snapshot_id: before } = await pointer();
  await rows(
    warehouse,
    `update finance.bills set memo = 'another' where id = (select min(id) from finance.bills)`,
  );
  await run(['export']);
  expect((await sync(installation, company)).run.status).toBe('succeeded');
  await expect(marts.result()).rejects.toThrow();
  const { marts: built } = await status();
  for (const target of [built.postgres, built.lake]) {
    expect(target).toMatchObject({ status: 'failed', as_of_date: expect.any(String) as string });
    expect(target.failure).toContain('unique_together_connection_settings');
  }
  expect(await shownBills()).toEqual(shown);
  expect((await pointer()).snapshot_id).toBe(before);
  const alert = await withinFiveMinutes(async () => {
    const open = await openAlert();
    return /in Postgres failed[^]*on the lake failed/.test(open?.message ?? '') ? open : undefined;
  });
  expect(alert.message).toMatch(/^The last build of the marts in Postgres failed .* Readers see those of 20/);
  expect(alert.remedy).toContain('"daybook dbt build" and "daybook dbt build --target lake"');
  expect((await run(['status'])).stdout).toContain('alert (marts, since');
});

test('a skipped export builds failed marts; kill -9 of the worker ends dbt, and the next worker completes the build', async () => {
  await rm(settings);
  const shown = await shownBills();
  expect(JSON.parse((await run(['export', '--json'])).stdout)).toMatchObject({ skipped: true });
  const { runId } = await marts.describe();
  await withinFiveMinutes(async () => ((await dbtSessions()) > 0 ? true : undefined));
  await worker.stop('SIGKILL');
  await withinFiveMinutes(() => Promise.resolve(dbtProcesses() === 0 ? true : undefined));
  expect(await shownBills()).toEqual(shown);
  worker = await installation.startWorker();
  const sessions = [0];
  await withinFiveMinutes(async () => {
    sessions.push(await dbtSessions());
    if ((await statusOf(`${runId}-postgres`)) !== 'succeeded') return undefined;
    return true;
  });
  expect(Math.max(...sessions), 'sessions of dbt, of the ten that a process may have').toBe(1);
  expect(await shownBills()).toContainEqual({ bill_id: expect.any(String) as string, memo: 'another' });
});

test('a build that is cancelled in Temporal ends dbt, and its run says cancelled', async () => {
  const { runId } = await marts.describe();
  await withinFiveMinutes(() => Promise.resolve(dbtProcesses() > 0 ? true : undefined));
  const before = await pointer();
  await marts.cancel();
  await expect(marts.result()).rejects.toThrow();
  expect(dbtProcesses()).toBe(0);
  expect(await statusOf(`${runId}-lake`)).toBe('cancelled');
  expect(await pointer()).toEqual(before);
});

test('a build by hand is in the ledger too, and ends the alert', async () => {
  // It reported both targets; the alert for Postgres is over at the next look.
  await withinFiveMinutes(async () => {
    const alert = await openAlert();
    return alert?.message.startsWith('The last build of the marts on the lake failed') === true
      ? alert
      : undefined;
  });
  expect((await run(['dbt', 'build', '--target', 'lake'])).code).toBe(0);
  const { snapshot, marts: built } = await status();
  expect(built.lake).toMatchObject({ status: 'succeeded', failure: null, snapshot_id: snapshot.snapshot_id });
  await withinFiveMinutes(async () => ((await openAlert()) === undefined ? true : undefined));
});

interface Shown {
  snapshot_id: string | null;
  as_of_date: string | null;
  status: string;
  failure: string | null;
}

async function status(): Promise<{ snapshot: Shown; marts: { postgres: Shown; lake: Shown } }> {
  return JSON.parse((await run(['status', '--json'])).stdout) as Awaited<ReturnType<typeof status>>;
}

async function pointer(): Promise<MartsPointer> {
  return JSON.parse(await readFile(join(home, 'lake', 'latest-marts.json'), 'utf8')) as MartsPointer;
}

async function shownBills(): Promise<unknown> {
  return rows(warehouse, 'select bill_id, memo from marts.bills order by 1');
}

async function builds(): Promise<unknown> {
  return rows(warehouse, `select run_id from sync.runs where kind = 'marts' order by 1`);
}

async function statusOf(runId: string): Promise<unknown> {
  const [found] = await rows(warehouse, 'select status from sync.runs where run_id = $1', [runId]);
  return found?.status;
}

async function openAlert(): Promise<{ message: string; remedy: string } | undefined> {
  const [alert] = await rows(
    warehouse,
    `select message, remedy from sync.alerts where kind = 'marts' and resolved_at is null`,
  );
  return alert as { message: string; remedy: string } | undefined;
}

async function dbtSessions(): Promise<number> {
  const { n } = await row(
    warehouse,
    `select count(*)::int as n from pg_stat_activity where application_name = 'daybook-dbt' and datname = current_database()`,
  );
  return Number(n);
}

/** Processes of this installation, with its folder in their command line. */
function dbtProcesses(): number {
  const all = execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' });
  return all.split('\n').filter((line) => line.includes('run_dbt.py') && line.includes(home)).length;
}
