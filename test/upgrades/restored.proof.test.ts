import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test, inject } from 'vitest';
import { eventually } from '../support/eventually.ts';
import { compareWithSource } from '../support/compare-with-source.ts';
import { runDaybook, startDaybook, type DaybookProcess } from '../support/daybook-process.ts';
import { readSearchAttributes } from '../support/workflow-history.ts';
import { createInstallation, type Installation } from '../support/installation.ts';
import { pathWithoutPython } from '../support/path-without-python.ts';
import { rows } from '../support/rows.ts';
import { startSync, sync } from '../support/sync.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { createTestNamespace } from '../support/temporal-namespace.ts';

// A backup is made, work continues for a while, and then Postgres is lost. The backup is older than Temporal and the lake.
const installation = await createInstallation();
const { admin, databaseUrl, env, cwd } = installation;

const company = await installation.connect({ name: 'books-1', records: 500 });
const unready = await installation.connect({ records: 50, ready: false });
const before = await installation.startWorker();
await sync(installation, company);
await installation.run(['export']);
await before.stop();
const backups = [await backUp(databaseUrl), await backUp(databaseUrl)] as const;
const empty = await createTestNamespace();
const lake = join(cwd, 'lake-of-the-other');
// Other tests cover marts.
const path = await pathWithoutPython(cwd);

beforeAll(async () => {
  const worker = await installation.startWorker();
  await admin.activity({ connection: company, changes: 30, touches: 20, deletes: 5 });
  const [bill] = await admin.content(company, 'bills');
  const { id } = JSON.parse(bill ?? '') as { id: string };
  await admin.execute({ kind: 'delete', connection: company, resource: 'bills', id, event: false });
  await sync(installation, company);
  const waiting = await startSync(installation, unready);
  await eventually(async () => {
    const { DaybookPhase: phase } = await readSearchAttributes(waiting);
    return phase === 'waiting' ? true : undefined;
  });
  await installation.run(['export']);
  await worker.stop();
  await cp(join(env.DAYBOOK_HOME ?? '', 'lake'), lake, { recursive: true });
  await admin.execute({ kind: 'make-ready', connection: unready });
});

describe.each([
  { where: 'the namespace it was in', backup: backups[0], more: {}, isOwner: false },
  {
    where: 'an empty namespace',
    backup: backups[1],
    isOwner: true,
    more: { TEMPORAL_NAMESPACE: empty.namespace, DAYBOOK_LAKE: lake },
  },
])('an older Postgres under a newer lake, in $where', ({ backup, more, isOwner }) => {
  const restored = { ...env, ...more, ...path, DATABASE_URL: backup.url };
  const run = (...args: string[]): ReturnType<Installation['run']> =>
    runDaybook(args, { cwd, env: restored });
  let worker: DaybookProcess;

  beforeAll(async () => {
    if (!isOwner) {
      expect(await run('worker')).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(notTheOriginal) as unknown,
      });
      expect(await run('sync', company)).toMatchObject({ code: 2 });
    }
    worker = startDaybook(isOwner ? ['worker'] : ['worker', '--take-over'], { cwd, env: restored });
    await worker.waitForOutput(/worker is ready/);
  });
  afterAll(() => worker.stop());

  test('exports its data even though the lake has a newer snapshot', async () => {
    const { code, stdout } = await run('export', '--json');
    expect([code, stdout]).toEqual([0, expect.stringContaining('"skipped": false') as unknown]);
  });

  test('is exact after a sync and a reconcile', async () => {
    for (const connection of [company, unready]) {
      expect(await run('sync', connection)).toMatchObject({ code: 0 });
      expect(await run('reconcile', connection)).toMatchObject({ code: 0 });
      const compared = await compareWithSource({
        databaseUrl: backup.url,
        admin,
        connectionId: connection,
      });
      expect(compared.differences).toEqual([]);
      expect(compared.records).toBeGreaterThan(49);
    }
  });

  test('leaves no unfinished run, and its snapshot verifies', async () => {
    const runs = await rows(
      backup.warehouse,
      `select kind, status from sync.runs where status <> 'succeeded' and kind <> 'marts'`,
    );
    expect(runs).toEqual([]);
    expect(await run('export')).toMatchObject({ code: 0 });
    expect(await run('snapshots', 'verify')).toMatchObject({ code: 0 });
  });
});

const notTheOriginal = /belongs to warehouse .* and this one .* is a copy of it: .*--take-over/;

/** Copies the database as it is now. Ends sessions that block the copy; their pools open new ones. */
async function backUp(url: string): Promise<TestDatabase> {
  const name = new URL(url).pathname.slice(1);
  const client = new pg.Client(inject('postgresAdminUrl'));
  await client.connect();
  await client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
  await client.end();
  return createTestDatabase(`template ${name}`);
}
