import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { openExportSession } from '../../warehouse/snapshots/open-snapshot.ts';
import { startDaybook } from '../support/daybook-process.ts';
import { createInstallation } from '../support/installation.ts';
import { waitingSessions } from '../support/blocked-session.ts';
import { pathWithoutPython } from '../support/path-without-python.ts';
import { proofTest } from '../support/proof-test.ts';
import { row, rows } from '../support/rows.ts';
import { sync } from '../support/sync.ts';
import { eventually } from '../support/eventually.ts';
import { readParquet } from './read-parquet.ts';

const installation = await createInstallation();
const { run, warehouse, client, env, databaseUrl } = installation;
const lake = join(env.DAYBOOK_HOME!, 'lake');
// Another test covers the marts after each export.
const withoutPython = await pathWithoutPython(installation.cwd);
let worker = await installation.startWorker(withoutPython);
let connection: string;

beforeAll(async () => {
  connection = await installation.connect({ records: 60 });
  await sync(installation, connection);
});

afterAll(async () => {
  await client.schedule
    .getHandle('export')
    .delete()
    .catch(() => undefined);
});

test('export publishes a snapshot, says so, and records its run in the ledger', async () => {
  const { code, stdout, stderr } = await run(['export']);
  expect(stderr).toContain('Running: export');
  expect(stdout).toMatch(/^Published snapshot \d{8}T\d{6}Z-[0-9a-f]{6}: [\d,]+ rows in 28 tables\.$/m);
  expect(code).toBe(0);
  expect(await newestRun()).toMatchObject({
    kind: 'export',
    status: 'succeeded',
    connection_id: null,
    workflow_id: 'export',
  });
  const snapshot = await row(warehouse, 'select * from sync.snapshots');
  const [bills] = await readParquet(
    join(lake, 'snapshots', String(snapshot.snapshot_id)),
    `select count(*) as n from read_parquet('{lake}/bills/*.parquet')`,
  );
  const stored = await row(warehouse, 'select count(*)::text as n from finance.bills');
  expect(bills).toEqual(stored);
});

test('an export that waits for an erasure says so', async () => {
  const erasure = await openExportSession(databaseUrl, { isErasure: true });
  onTestFinished(() => erasure.close());
  const waiting = startDaybook(['export'], { cwd: installation.cwd, env });
  await waiting.waitForOutput(/An erasure has not ended yet \(session \d+\); this one waits for it\./);
  await erasure.close();
  const { code, stderr } = await waiting.ended;
  expect(stderr).not.toContain('is one running?');
  expect(code).toBe(0);
});

test('a second export is skipped, and the run says so', async () => {
  const { code, stdout } = await run(['export', '--json']);
  const { snapshot_id: id } = await row(warehouse, 'select snapshot_id from sync.snapshots');
  expect(JSON.parse(stdout)).toMatchObject({ skipped: true, snapshot_id: id });
  expect(code).toBe(0);
  expect((await newestRun()).outcome).toBe(
    `Nothing has changed since snapshot ${String(id)}, so there is no new one.`,
  );
});

test('an export after a change writes what changed, and its run says how much that was', async () => {
  const { rowCount } = await warehouse.pool.query(
    `update finance.customers set customer_name = 'Another name' where id = (select min(id) from finance.customers)`,
  );
  expect(rowCount).toBe(1);
  const { code, stdout } = await run(['export']);
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /28 tables\. \d+ kB of its [1-9]\d+ kB were written, the rest is reused from the previous snapshot\.$/m,
  );
  expect(stdout).toContain((await newestRun()).outcome);
});

test('an export returns before the marts are built and says so, and --wait waits for them', async () => {
  const marts = client.workflow.getHandle('marts');
  await marts.result();
  // A build that no worker picks up.
  const building = await client.workflow.start('buildMarts', {
    workflowId: 'marts',
    taskQueue: 'nobody',
    args: [{}],
  });
  const early = await run(['export', '--force']);
  expect(early.stdout).toContain('The marts are still being built, in Postgres and on this snapshot');
  expect(early.stdout).toContain('"daybook export --wait" waits for them');
  await building.terminate();
  const { code, stdout } = await run(['export', '--wait', '--force']);
  expect(stdout).toMatch(/^Marts in Postgres: .*\nMarts on the lake: .*$/m);
  expect(stdout).not.toContain('still being built');
  expect(code).toBe(0);
  const { stdout: json } = await run(['export', '--wait', '--json']);
  expect(JSON.parse(json)).toMatchObject({ skipped: true, marts_building: false, marts: { lake: {} } });
});

proofTest(
  'an export checks that the last snapshot is intact, and says why it makes another one',
  async () => {
    const before = await latest();
    await rm(join(lake, 'snapshots', before, 'bills/part-00000.parquet'));
    const { code, stdout } = await run(['export']);
    expect(stdout).toContain(
      'Nothing has changed, but the previous snapshot is damaged: bills/part-00000.parquet is missing.',
    );
    expect(code).toBe(0);
    expect(await latest()).not.toBe(before);
    expect((await run(['snapshots', 'verify'])).code).toBe(0);
    await rm(join(lake, 'snapshots', before), { recursive: true });
  },
);

proofTest('snapshots are listed and verified without Postgres and Temporal', async () => {
  const away = { DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none', TEMPORAL_ADDRESS: '127.0.0.1:1' };
  const listed = await run(['snapshots', 'list', '--json'], { env: away });
  const ids = JSON.parse(listed.stdout) as { id: string; latest: boolean }[];
  const only = ids.find((one) => one.latest);
  expect(only).toMatchObject({ unfit: 0 });
  const verified = await run(['snapshots', 'verify'], { env: away });
  expect(verified.stdout).toMatch(new RegExp(`Snapshot ${only!.id} is intact: [\\d,]+ rows in 28 tables`));
  expect(verified.code).toBe(0);
  const file = join(lake, 'snapshots', only!.id, '_manifest.json');
  const manifest = await readFile(file, 'utf8');
  await writeFile(file, manifest.replace('"rows": 0', '"rows": 1'));
  const broken = await run(['snapshots', 'verify', only!.id, '--json'], { env: away });
  expect(broken.code).toBe(1);
  expect(JSON.parse(broken.stdout)).toMatchObject({ ok: false });
  await writeFile(file, manifest);
});

proofTest(
  'the list of snapshots reports an unreadable manifest or pointer in a sentence, and still lists the others',
  async () => {
    const id = await latest();
    const pointer = await readFile(join(lake, 'latest.json'), 'utf8');
    const other = '20200101T000000Z-abcdef';
    await mkdir(join(lake, 'snapshots', other));
    await writeFile(join(lake, 'snapshots', other, '_SUCCESS'), '');
    await writeFile(join(lake, 'snapshots', other, '_manifest.json'), '{"rows": ');
    const problem = `snapshots/${other}/_manifest.json of the lake ${lake} is not what Daybook wrote`;
    const listed = await run(['snapshots', 'list']);
    expect(listed.stdout).toContain(problem);
    expect(listed.stdout).toMatch(new RegExp(`${id}.*latest`));
    expect(listed.code).toBe(0);
    const { stdout } = await run(['snapshots', 'list', '--json']);
    expect(JSON.parse(stdout)).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ id, latest: true, problem: null }),
        expect.objectContaining({
          id: other,
          rows: null,
          problem: expect.stringContaining(problem) as string,
        }),
      ]),
    );
    await writeFile(join(lake, 'latest.json'), '{');
    const without = await run(['snapshots', 'list']);
    expect(without.stdout).toContain(`latest.json of the lake ${lake} is not what Daybook wrote`);
    expect(without.code).toBe(0);
    await writeFile(join(lake, 'latest.json'), pointer.replaceAll(id, '20200101T000000Z-012345'));
    expect((await run(['snapshots', 'list'])).stdout).toContain(
      'latest.json names 20200101T000000Z-012345, which is not there: readers that follow it find nothing. "daybook export" fixes that.',
    );
    await rm(join(lake, 'latest.json'));
    expect((await run(['snapshots', 'list'])).stdout).toContain('There is no latest.json: ');
    await writeFile(join(lake, 'latest.json'), pointer);
    await rm(join(lake, 'snapshots', other), { recursive: true });
  },
);

proofTest(
  'an export whose worker is killed midway is completed by the next worker, and leaves no draft',
  async () => {
    await change();
    const before = await latest();
    const { letGo } = await blockAccess('finance.bills');
    const following = run(['export', '--json']);
    await waitingSessions(databaseUrl);
    await worker.stop('SIGKILL');
    // The export's process ends with the worker, and its session with that.
    await eventually(async () => ((await exportSessions()) === 0 ? true : undefined));
    expect(await latest()).toBe(before);
    await letGo();
    worker = await installation.startWorker(withoutPython);
    const { code, stdout } = await following;
    expect(code).toBe(0);
    const { snapshot_id: id } = JSON.parse(stdout) as { snapshot_id: string };
    expect(await latest()).toBe(id);
    expect((await run(['snapshots', 'verify'])).code).toBe(0);
    expect((await readdir(join(lake, 'snapshots'))).filter((name) => name.startsWith('.'))).toEqual([]);
    expect((await readdir(env.DAYBOOK_HOME!)).filter((name) => name === 'export')).toEqual([]);
  },
);

proofTest('an export that is cancelled stops reading, and its run says cancelled', async () => {
  await change();
  const { letGo } = await blockAccess('finance.bills');
  const handle = await client.workflow.start('exportSnapshot', {
    workflowId: 'export',
    taskQueue: 'daybook',
    args: [{}],
  });
  await waitingSessions(databaseUrl);
  await handle.cancel();
  await expect(handle.result()).rejects.toThrow();
  await eventually(async () => ((await exportSessions()) === 0 ? true : undefined));
  await letGo();
  expect(await newestRun()).toMatchObject({ status: 'cancelled', outcome: null });
});

test('export --every makes a schedule that starts exports, and off removes it', async () => {
  expect((await run(['export', '--every', '1h'])).stdout).toBe('A snapshot is exported every 1h.\n');
  const schedule = client.schedule.getHandle('export');
  expect(await schedule.describe()).toMatchObject({ spec: { intervals: [{ every: 3_600_000 }] } });
  const count = async () =>
    Number(
      (
        await row(
          warehouse,
          `select count(*) as n from sync.runs where kind = 'export' and reason = 'schedule'`,
        )
      ).n,
    );
  await schedule.trigger();
  await eventually(async () => ((await count()) === 1 ? true : undefined));
  expect((await run(['export', '--every', 'off'])).stdout).toBe('Exports have no schedule.\n');
  await expect(schedule.describe()).rejects.toThrow();
  expect((await run(['export', '--every', 'often'])).code).toBe(2);
});

proofTest('a schedule that was deleted in Temporal comes back when a worker starts', async () => {
  await run(['export', '--every', '2h']);
  await client.schedule.getHandle('export').delete();
  await worker.stop();
  worker = await installation.startWorker(withoutPython);
  await eventually(() => client.schedule.getHandle('export').describe());
  await run(['export', '--every', 'off']);
});

proofTest('the workflow history of an export contains no secret and no value of a record', async () => {
  const { memo } = await row(warehouse, `select max(memo) as memo from finance.bills where memo like '%!'`);
  await change();
  const handle = await client.workflow.start('exportSnapshot', {
    workflowId: 'export',
    taskQueue: 'daybook',
    args: [{}],
  });
  await handle.result();
  const history = JSON.stringify(await handle.fetchHistory(), (_, value: unknown) =>
    value instanceof Uint8Array ? Buffer.from(value).toString('utf8') : value,
  );
  for (const secret of [
    `token-of-${connection}`,
    String(memo),
    'planted-client-secret',
    new URL(databaseUrl).password,
  ])
    expect(history).not.toContain(secret);
});

async function change(): Promise<void> {
  await rows(
    warehouse,
    `update finance.bills set memo = coalesce(memo, '') || '!' where id = (select min(id) from finance.bills)`,
  );
}

async function newestRun(): Promise<Record<string, unknown>> {
  return row(warehouse, `select * from sync.runs where kind = 'export' order by started_at desc limit 1`);
}

async function latest(): Promise<string> {
  return (JSON.parse(await readFile(join(lake, 'latest.json'), 'utf8')) as { snapshot_id: string })
    .snapshot_id;
}

/** Counts no idle sessions: a pooler keeps one under the last name it had. */
async function exportSessions(): Promise<number> {
  return (
    await rows(
      warehouse,
      `select pid from pg_stat_activity
       where application_name = 'daybook export' and datname = current_database() and state <> 'idle'`,
    )
  ).length;
}

async function blockAccess(table: string): Promise<{ letGo: () => Promise<void> }> {
  const blocker = new pg.Client({ connectionString: databaseUrl });
  await blocker.connect();
  await blocker.query('begin');
  await blocker.query(`lock table ${table} in access exclusive mode`);
  return { letGo: () => blocker.end() };
}
