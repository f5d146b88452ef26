import { copyFile, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { openLake } from '../../lake/open-lake.ts';
import { startDaybook } from '../support/daybook-process.ts';
import { eventually } from '../support/eventually.ts';
import { bill } from '../support/finance-records.ts';
import { createInstallation } from '../support/installation.ts';
import { pathWithoutPython } from '../support/path-without-python.ts';
import { rows } from '../support/rows.ts';
import { sync } from '../support/sync.ts';
import { readParquet } from '../lake/read-parquet.ts';
import { startS3Server } from '../lake/s3-server.ts';

const s3 = await startS3Server();
const installation = await createInstallation({ env: { ...s3.env, DAYBOOK_LAKE: s3.location } });
const { admin, run, warehouse, env, cwd } = installation;
const here = env.DAYBOOK_HOME ?? '';
const there = join(cwd, "home of another's {host}");
const onThere = { DAYBOOK_HOME: there };
const planted = 'planted-content-of-a-person';
const id = 'to-erase';
let connection: string;
let path: { PATH: string };

beforeAll(async () => {
  path = await pathWithoutPython(cwd);
  connection = await installation.connect({ records: 30 });
  await admin.execute({
    kind: 'add',
    connection,
    resource: 'bills',
    record: bill(id, { memo: `"${planted}"`, platform_data: `{"VendorRef":{"name":"${planted}"}}` }),
  });
  await installation.startWorker(path);
  await sync(installation, connection);
  expect((await run(['export'])).code).toBe(0);
});

test('a build leaves no record content on its host, except in the lists that the user fills in', async () => {
  const { code, stderr } = await run(['dbt', 'build', '--target', 'lake'], { env: onThere });
  expect(code, stderr).toBe(0);
  expect((await filesWith(there)).filter((file) => !file.includes('.template.'))).toEqual([]);
});

test('an erasure clears its own host and names the others, which clear theirs at their next heartbeat', async () => {
  await leaveBehind(here);
  await leaveBehind(there);
  await killBuild(there);
  for (const home of [here, there]) expect((await filesWith(home)).length).toBeGreaterThan(2);
  await admin.execute({ kind: 'delete', connection, resource: 'bills', id, event: false });

  const { code, stdout, stderr } = await run(['erase', connection, 'bills', id]);
  expect([code, stderr]).toEqual([0, expect.anything()]);
  expect(stdout).toContain('Other hosts may keep files of exports and builds');
  expect(stdout).toContain(`:${there}, last seen 20`);
  expect(stdout).not.toContain(`:${here},`);
  expect(await filesWith(here)).toEqual([]);
  expect(await inLake()).toEqual([]);

  // No worker runs there yet.
  expect(await filesWith(there)).not.toEqual([]);
  const worker = await installation.startWorker({ ...path, ...onThere });
  await eventually(async () => (await filesWith(there)).length === 0 || undefined);
  // Files are removed before the request is.
  await eventually(async () => (await readHostsToClear()).length === 0 || undefined);
  await worker.stop();
  expect(await readFile(join(there, 'seeds', 'vendor_names.csv'), 'utf8')).toContain('vendor_id');
});

test('files left by a killed process are removed when a worker starts on its host, without an erasure', async () => {
  const left = [
    join(there, 'export', 'download', 'x'),
    join(there, 'dbt', 'lake', 'scratch', 'marts.duckdb'),
  ];
  for (const file of left) await put(file);
  const worker = await installation.startWorker({ ...path, ...onThere });
  await eventually(async () => (await filesWith(there)).length === 0 || undefined);
  await worker.stop();
});

/** Leaves files as killed exports, builds, erasures and reads of the lake do; some as release 0.5 wrote them. */
async function leaveBehind(home: string): Promise<void> {
  for (const file of [
    ...[
      'dbt/snapshots/20260101T000000Z-abcdef/bills/part-00000.parquet',
      'dbt/snapshots/x.123/bills.parquet',
    ],
    ...['dbt/lake/build-99999999/marts.duckdb', 'dbt/lake/scratch/bills.parquet', 'dbt/lake/logs/dbt.log'],
    ...['dbt/postgres/target/run_results.json', 'seeds/vendor_names.template.csv', 'tmp/lake-x/download/y'],
    ...[
      'export/draft/20260101T000000Z-abcdef/bills/part-00000.parquet',
      'export/download/x',
      'export/erase/z',
    ],
  ])
    await put(join(home, file));
  const lake = await openLake({ location: s3.location, scratch: join(cwd, 'scratch') });
  const draft = join(cwd, 'left.json');
  await put(draft);
  await lake.putFile('snapshots/20260101T000000Z-abcdef/bills/part-00000.json', draft);
  await lake.putFile('marts/20260101T000000Z-abcdef/bills/part-00000.json', draft);
  await lake.close();
  await rm(draft);
}

async function put(file: string): Promise<void> {
  await mkdir(join(file, '..'), { recursive: true });
  await writeFile(file, planted);
}

/** Kills a build in the middle, once it has downloaded its snapshot. */
async function killBuild(home: string): Promise<void> {
  const build = startDaybook(['dbt', 'build', '--target', 'lake'], {
    cwd,
    env: { ...env, DAYBOOK_HOME: home },
  });
  await build.waitForOutput(/marts are being built on snapshot/);
  await build.stop('SIGKILL');
  expect(await filesWith(join(home, 'dbt'))).toContain('lake/scratch/snapshot/bills/part-00000.parquet');
}

async function readHostsToClear(): Promise<unknown[]> {
  return rows(warehouse, 'select name from sync.hosts where clear_since is not null');
}

/** Files of a folder that contain the planted text, also inside compressed columns. */
async function filesWith(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.filter((one) => one.isFile())) {
    const file = join(entry.parentPath, entry.name);
    if (await holds(file).catch(isGone)) found.push(file.slice(folder.length + 1));
  }
  return found.sort();
}

/** Returns false if a worker's periodic check removed the file just now. Rethrows any other error. */
function isGone(error: unknown): false {
  if (error instanceof Error && /ENOENT|No files found|No such file/.test(error.message)) return false;
  throw error;
}

async function holds(file: string): Promise<boolean> {
  if ((await readFile(file)).includes(planted)) return true;
  if (!file.endsWith('.parquet')) return false;
  const query = `select count(*) as n from read_parquet('{lake}') as r where r::varchar like '%${planted}%'`;
  return (await readParquet(file.replaceAll("'", "''"), query))[0]?.n !== '0';
}

async function inLake(): Promise<string[]> {
  const copy = join(cwd, 'copy-of-lake');
  const { openBucket } = await import('../../lake/storage/bucket.ts');
  const bucket = openBucket(s3.location);
  const lake = await openLake({ location: s3.location, scratch: join(cwd, 'scratch') });
  for (const path of await bucket.list('')) {
    await mkdir(join(copy, path, '..'), { recursive: true });
    const bytes = (await bucket.bytesOf(path)) ?? 0;
    await lake.withFile({ path, bytes }, (file) => copyFile(file, join(copy, path)));
  }
  await lake.close();
  bucket.close();
  return filesWith(copy);
}
