import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { streamNamed } from '../../resources/index.ts';
import { sourceRecord } from '../../resources/source-record.ts';
import { addConnection } from '../../warehouse/connections/add-connection.ts';
import { removeConnection } from '../../warehouse/connections/remove-connection.ts';
import { withScheduleState } from '../../warehouse/connections/schedule-state.ts';
import { landFetched } from '../../warehouse/landing/land-fetched.ts';
import { withBuildLock } from '../../warehouse/marts/build-lock.ts';
import { prepareSchemas } from '../../warehouse/marts/prepare-schemas.ts';
import { migrate } from '../../warehouse/schema/migrate.ts';
import { ExportRunning, openExportSession } from '../../warehouse/snapshots/open-snapshot.ts';
import { watchBlockers } from '../../warehouse/transactions/blockers.ts';
import { withExportEvery } from '../../warehouse/snapshots/export-schedule.ts';
import { takingLocks } from '../../warehouse/transactions/taking-locks.ts';
import { eventually } from '../support/eventually.ts';
import { bill } from '../support/finance-records.ts';
import { begin, land } from '../support/land.ts';
import { proofTest } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

/** A reader who has read our sources: everybody may know which advisory locks exist, and take them. */
const { warehouse, url, adminUrl } = await createTestDatabase();
const name = `analyst_${randomBytes(4).toString('hex')}`;
const admin = await connectAs(adminUrl);
await admin.query(`create role ${name} login password 'reads'; grant daybook_reader to ${name}`);
await admin.query(`grant connect on database ${new URL(url).pathname.slice(1)} to ${name}`);
const login = new URL(url);
login.username = name;
login.password = 'reads';
const analyst = await connectAs(login.href);
const owner = await connectAs(url);
afterAll(async () => {
  await Promise.all([analyst.end(), owner.end()]);
  await admin.query(`drop owned by ${name}; drop role ${name}`);
  await admin.end();
});
afterEach(async () => {
  for (const session of [analyst, owner]) await session.query('rollback; select pg_advisory_unlock_all()');
});

const connectionId = await addTestConnection(warehouse);
const key = (text: string): string => `hashtextextended('${text}', 0)`;
const databaseUrl = url;

/** Actions, with the advisory locks that they took up to 0.5. */
const actions: [string, string[], () => Promise<unknown>][] = [
  ['migrates', ['7232019551', '3853314791062309107'], () => migrate(warehouse)],
  ['lands records', [key(`${connectionId}/bills`)], () => landBill('b')],
  [
    'exports',
    [key('daybook export')],
    async () => {
      await (await openExportSession(url)).close();
    },
  ],
  [
    'builds marts',
    ['7232019552', '7232019553'],
    async () => {
      for (const target of ['postgres', 'lake'] as const)
        await withBuildLock({ databaseUrl, target }, () => Promise.resolve());
    },
  ],
  [
    'brings schedules to their state',
    [key(`schedules/${connectionId}`), key('schedules of export')],
    async () => {
      await withScheduleState(warehouse, connectionId, () => Promise.resolve());
      await withExportEvery(warehouse, () => Promise.resolve());
    },
  ],
  [
    'adds and removes connections',
    [
      key('name/another'),
      ...['bills', 'expenses', 'customers'].map((resource) => key(`another/${resource}`)),
    ],
    async () => {
      const connection = {
        connectionId: 'another',
        apiAddress: 'sandbox',
        token: 't',
        expandPlatformData: false,
      };
      await addConnection(warehouse, Buffer.alloc(32, 1), connection).catch(() => undefined);
      await removeConnection(warehouse, { connectionId: 'another', keepData: false }).catch(() => undefined);
    },
  ],
];

describe("a reader's advisory locks do not block Daybook when it", () => {
  test.each(actions)('%s', async (_, keys, action) => {
    for (const lock of keys) await analyst.query(`select pg_advisory_lock(${lock})`);
    await inTime(action());
  });

  test.each(actions)('%s, even if the lock is shared', async (_, keys, action) => {
    for (const lock of keys) await analyst.query(`select pg_advisory_lock_shared(${lock})`);
    await inTime(action());
  });
});

describe('a release before 0.6 may run beside this one, which waits for', () => {
  test('its landings', async () => {
    await owner.query(`begin; select pg_advisory_xact_lock(${key(`${connectionId}/bills`)})`);
    const landing = landBill('later');
    await expect(soon(landing)).resolves.toBe('not yet');
    await owner.query('commit');
    await landing;
  });

  test("its export, and it waits for this one's", async () => {
    const session = await openExportSession(url);
    const { rows: seen } = await owner.query<{ free: boolean }>(
      `select pg_try_advisory_lock(${key('daybook export')}) as free`,
    );
    expect(seen).toEqual([{ free: false }]);
    await session.close();
    await owner.query(`select pg_advisory_lock(${key('daybook export')})`);
    await expect(openExportSession(url)).rejects.toThrow(ExportRunning);
  });
});

describe('no two at a time', () => {
  proofTest('exports: the second is refused, and a terminated session leaves nothing locked', async () => {
    const first = await openExportSession(url);
    await expect(openExportSession(url)).rejects.toThrow(ExportRunning);
    await admin.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name in ('daybook export', 'daybook lock')`,
    );
    const second = await openExportSession(url);
    await Promise.all([first.close(), second.close()]);
  });

  test('landings of a resource, while a reader holds the lock of old releases', async () => {
    await begin(warehouse, { connectionId, runId });
    await analyst.query(`select pg_advisory_lock(${key(`${connectionId}/bills`)})`);
    await Promise.all(Array.from({ length: 20 }, (_, index) => inTime(landAlone(`at once ${index}`))));
    const versions = await rows(
      warehouse,
      `select count(*) as n, count(distinct recorded_at) as times from history.record_versions
       where connection_id = $1 and record_id like 'at once%'`,
      [connectionId],
    );
    expect(versions).toEqual([{ n: 20, times: 20 }]);
  });

  test('holders of a named lock: they leave no lock behind', async () => {
    await Promise.all(Array.from({ length: 5 }, () => withExportEvery(warehouse, () => Promise.resolve())));
    expect(
      await rows(
        warehouse,
        `select name from sync.locks where name not in ('export', 'marts/postgres', 'marts/lake')`,
      ),
    ).toEqual([]);
  });
});

test('a reader cannot lock a row or table that Daybook locks', async () => {
  for (const statement of [
    'select from sync.locks for share',
    `select from sync.migrations_lock for update`,
    `select sync.lock('export')`,
    'select from finance.bills for share',
    'lock table finance.bills in row share mode',
  ])
    await expect(analyst.query(`begin; ${statement}`), statement)
      .rejects.toThrow(/permission denied/)
      .then(() => analyst.query('rollback'));
});

test("a reader's open transaction is named by the work that it blocks", async () => {
  await owner.query('create schema if not exists marts_a; create table marts_a.kept as select 1 as n');
  await owner.query(`comment on schema marts_a is 'Daybook: marts'`);
  await owner.query('create or replace view marts.kept as select n from marts_a.kept');
  await owner.query('grant select on marts.kept to daybook_reader');
  onTestFinished(async () => {
    await owner.query('drop schema marts_a cascade; create schema marts_a');
  });
  await analyst.query('begin; select from marts.kept');
  const drop = takingLocks(owner, { what: 'Building the marts', timeoutMilliseconds: 1_500 }, () =>
    owner.query('drop schema marts_a cascade'),
  );
  await expect(drop).rejects.toThrow(
    new RegExp(
      `^Building the marts could not go on: ${name} \\(session \\d+.*\\) reads marts.kept, marts_a.kept`,
    ),
  );
  const preparing = prepareSchemas(owner);
  await expect(soon(preparing)).resolves.toBe('not yet');
  await analyst.query('commit');
  await preparing;
});

function landBill(id: string): Promise<unknown> {
  return land(warehouse, { connectionId, stream: 'bills', pages: [[bill(id)]] });
}

const runId = 'of what lands alone';

function landAlone(id: string): Promise<unknown> {
  const { resource } = streamNamed('bills');
  const record = sourceRecord(bill(id));
  return landFetched(warehouse, { connectionId, resource, runId, record, token: null, servedAt: null });
}

function inTime<Result>(work: Promise<Result>): Promise<Result> {
  return Promise.race([work, later(30_000).then(() => Promise.reject(new Error('It hangs.')))]);
}

function soon(work: Promise<unknown>): Promise<unknown> {
  return Promise.race([work.then(() => 'done'), later(1_500).then(() => 'not yet')]);
}

function later(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds).unref();
  });
}

async function connectAs(of: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: of });
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

test("a reader's application name is plain text in every message about blocking", async () => {
  await analyst.query(`set application_name = '<!channel> <https://evil.example|Daybook: log in here>'`);
  await analyst.query('begin; select from finance.bills');
  const blocked = takingLocks(owner, { what: 'This', timeoutMilliseconds: 0 }, () =>
    owner.query('lock table finance.bills'),
  );
  const plain =
    /^This could not go on: analyst_\w+ \(session \d+, [\w .?-]{1,40}\) reads finance\.bills in a/;
  await expect(blocked).rejects.toThrow(plain);
  const { rows: sessions } = await owner.query<{ pid: number }>('select pg_backend_pid() as pid');
  const seen: string[] = [];
  const watch = watchBlockers(warehouse.pool, (words) => seen.push(words));
  watch.watch(sessions[0]?.pid ?? 0);
  const waiting = owner.query('begin; lock table finance.bills');
  await eventually(() => Promise.resolve(seen[0]));
  await analyst.query('rollback');
  await waiting;
  await watch.stop();
  expect(seen[0]).toMatch(/^analyst_\w+ \(session \d+, [\w .?-]{1,40}\), in a transaction for/);
  expect(seen[0]).toContain('channel');
});
