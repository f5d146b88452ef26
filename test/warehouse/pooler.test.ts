import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { withBuildLock } from '../../warehouse/marts/build-lock.ts';
import { migrate } from '../../warehouse/schema/migrate.ts';
import { openWarehouse, type Warehouse } from '../../warehouse/open-warehouse.ts';
import { queryAsReader } from '../../warehouse/query/query-as-reader.ts';
import { openExportSession } from '../../warehouse/snapshots/open-snapshot.ts';
import { eventually } from '../support/eventually.ts';
import { bill } from '../support/finance-records.ts';
import { createInstallation, type Installation } from '../support/installation.ts';
import { land } from '../support/land.ts';
import { startLockHolder } from '../support/lock-holder.ts';
import { pathWithoutPython } from '../support/path-without-python.ts';
import { oldPgBouncer, pgBouncerProgram } from '../support/pgbouncer-program.ts';
import { startPgBouncer, type PgBouncer } from '../support/pgbouncer.ts';
import { proofTest, some } from '../support/proof-test.ts';
import { rows } from '../support/rows.ts';
import { sync } from '../support/sync.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const poolers: PgBouncer[] = [];
// For the whole file: a group without a chosen test runs no hooks.
afterAll(() => Promise.all(poolers.map((pooler) => pooler.stop())));

const program = await pgBouncerProgram();
const old = await oldPgBouncer();
if (typeof program === 'string') {
  describe('through PgBouncer in transaction mode', () => throughPgBouncer(program));
  describe('the pooler check', () => whatIsWrong(program));
} else test.skip(`Daybook works through PgBouncer: ${program.lacks}`);

async function throughPgBouncer(program: string): Promise<void> {
  const { warehouse, url, adminUrl } = await createTestDatabase();
  const sessions = 6;
  const pooler = await startPgBouncer(program, {
    adminUrl,
    settings: { max_prepared_statements: 200, default_pool_size: sessions },
  });
  const pooledUrl = pooler.through(url);
  const installation = await createInstallation({ database: { url: pooledUrl, warehouse } });
  poolers.push(pooler);

  test('pages land from more clients at once than there are sessions', async () => {
    const clients = Array.from({ length: 3 }, () => openPooled(pooledUrl));
    await Promise.all(
      clients.map(async (client) => {
        const connectionId = await addTestConnection(client);
        const runId = randomUUID();
        const pages = Array.from({ length: 12 }, (_, page) => [bill(`${connectionId}-${page}`)]);
        await Promise.all(
          ['bills', 'expenses', 'customers', 'items'].map((stream) =>
            land(client, { connectionId, runId, stream, pages: stream === 'bills' ? pages : [[], [], []] }),
          ),
        );
      }),
    );
    expect(await rows(warehouse, 'select count(*) as bills from finance.bills')).toEqual([{ bills: 36 }]);
  });

  test('a sync and an export by real workers are exact without a direct connection to the server', async () => {
    const withoutPython = await pathWithoutPython(installation.cwd);
    const worker = await installation.startWorker(withoutPython);
    const other = await installation.startWorker(withoutPython);
    const connection = await installation.connect();
    expect((await sync(installation, connection)).run.status).toBe('succeeded');
    await installation.admin.activity({ connection, changes: 20, touches: 10, deletes: 5 });
    expect((await sync(installation, connection)).run.status).toBe('succeeded');
    expect((await installation.compare(connection)).differences).toEqual([]);
    const { code, stderr } = await installation.run(['export']);
    expect({ code, stderr }).toMatchObject({ code: 0 });
    await Promise.all([worker.stop(), other.stop()]);
  });

  test.each(some(['export', 'build'] as const))(
    'a %s lock that two processes take at once goes to one, and is free when that one is killed',
    async (what) => {
      const [one, other] = [startLockHolder(what, pooledUrl), startLockHolder(what, pooledUrl)];
      const said = await Promise.all([one.nextLine(), other.nextLine()]);
      const refused = what === 'export' ? 'ExportRunning' : 'BuildRunning';
      expect(said.sort()).toEqual([refused, 'held'].sort());
      one.signal('SIGKILL');
      other.signal('SIGKILL');
      await eventually(() => takeAndLeave(what));
    },
  );

  test('a build lock does not hold back vacuum', async () => {
    await withBuildLock({ databaseUrl: pooledUrl, target: 'lake' }, async () => {
      const held = await rows(
        warehouse,
        `select state, backend_xid, backend_xmin from pg_stat_activity
         where datname = current_database() and application_name = 'daybook lock' and usename = current_user`,
      );
      expect(held).toEqual([{ state: 'idle in transaction', backend_xid: null, backend_xmin: null }]);
    });
  });

  test('another client of the pooler inherits no setting, lock, or transaction of Daybook', async () => {
    const ours = openPooled(pooledUrl);
    const connectionId = await addTestConnection(ours);
    await land(ours, { connectionId, stream: 'bills', pages: [[bill('left')], []] });
    const session = await openExportSession(pooledUrl);
    const snapshot = await session.openSnapshot({ readers: 2 });
    await Promise.all(snapshot.readers.map((reader) => reader.query('select from finance.bills')));
    await snapshot.release();
    await snapshot.close();
    await session.close();
    await withBuildLock({ databaseUrl: pooledUrl, target: 'postgres' }, ({ inSession }) =>
      inSession((client) => client.query('select')),
    );
    await queryAsReader(ours, `select set_config('work_mem', '123MB', false), pg_advisory_lock(5)`);
    await migrate(ours);
    expect(await leftBehind(pooledUrl, sessions)).toEqual([]);
  });

  test('sessions are in UTC, whatever the setting of the role', async () => {
    const [row] = await rows(
      warehouse,
      `select format('alter role %I in database %I set timezone = ''Asia/Tokyo''', current_user, current_database()) as sql`,
    );
    await warehouse.pool.query(String(row?.sql));
    for (const client of [openPooled(url), openPooled(pooledUrl)])
      expect((await client.pool.query('show timezone')).rows).toEqual([{ TimeZone: 'UTC' }]);
    const session = await openExportSession(pooledUrl);
    expect((await session.client.query('show timezone')).rows).toEqual([{ TimeZone: 'UTC' }]);
    await session.close();
  });

  /** Takes and releases the lock as soon as its former holder's session has ended. */
  async function takeAndLeave(what: 'export' | 'build'): Promise<true> {
    if (what === 'export') await (await openExportSession(pooledUrl)).close();
    else await withBuildLock({ databaseUrl: pooledUrl, target: 'postgres' }, () => Promise.resolve());
    return true;
  }
}

async function whatIsWrong(program: string): Promise<void> {
  const { warehouse, url, adminUrl } = await createTestDatabase();
  const installation = await createInstallation({ database: { url, warehouse } });
  const mixesUp =
    'DATABASE_URL leads to a pooler that mixes up the prepared statements of its clients: make it PgBouncer 1.21 or newer with ' +
    'pool_mode = transaction and max_prepared_statements = 200, or give DATABASE_URL the address of Postgres itself.';

  test.each([
    ...(old === undefined ? [] : [{ what: 'an older one', by: old, settings: {}, sentence: mixesUp }]),
    {
      what: 'one that is told not to keep prepared statements',
      by: program,
      settings: { max_prepared_statements: 0 },
      sentence: mixesUp,
    },
    {
      what: 'one of statements',
      by: program,
      settings: { pool_mode: 'statement' },
      sentence: mixesUp.replace(
        'that mixes up the prepared statements of its clients',
        'that allows no transactions',
      ),
    },
  ])('refuses $what in doctor, worker, and serve', async ({ by, settings, sentence }) => {
    const pooled = (await start(by, settings)).through(url);
    expect(await poolerFinding(installation, { DATABASE_URL: pooled })).toEqual({
      what: 'pooler',
      ok: false,
      found: sentence,
    });
    const started = await Promise.all(
      ['worker', 'serve'].map((command) => installation.run([command], { env: { DATABASE_URL: pooled } })),
    );
    for (const { code, stderr } of started)
      expect({ code, stderr: stderr.trim() }).toEqual({ code: 2, stderr: sentence });
  });

  proofTest('accepts session mode, and transaction mode with a direct URL to the same database', async () => {
    expect(await poolerFinding(installation, {})).toEqual({ what: 'pooler', ok: true, found: 'none' });
    const ofSessions = await start(program, { pool_mode: 'session', max_prepared_statements: 0 });
    expect(await poolerFinding(installation, { DATABASE_URL: ofSessions.through(url) })).toMatchObject({
      ok: true,
      found: 'session mode',
    });
    const ofTransactions = await start(program, { max_prepared_statements: 200 });
    const env = { DATABASE_URL: ofTransactions.through(url) };
    expect(await poolerFinding(installation, env)).toMatchObject({
      warning: true,
      found: expect.stringContaining('set DAYBOOK_DATABASE_DIRECT_URL') as string,
    });
    expect(await poolerFinding(installation, { ...env, DAYBOOK_DATABASE_DIRECT_URL: url })).toEqual({
      what: 'pooler',
      ok: true,
      found: 'transaction mode',
    });
    const elsewhere = { ...env, DAYBOOK_DATABASE_DIRECT_URL: adminUrl.replace(/[^/]*$/, 'postgres') };
    expect(await poolerFinding(installation, elsewhere)).toMatchObject({
      ok: false,
      found: expect.stringMatching(/^DAYBOOK_DATABASE_DIRECT_URL leads to another database/) as string,
    });
  });

  proofTest('names a URL parameter that the pooler refuses', async () => {
    const pooled = (await start(program, {})).through(url);
    expect(
      await poolerFinding(installation, { DATABASE_URL: `${pooled}?statement_timeout=1000` }),
    ).toMatchObject({
      ok: false,
      found:
        'The pooler refuses the parameter statement_timeout: take it out of DATABASE_URL, and set it for the role with "alter role … set".',
    });
  });

  async function start(by: string, settings: Readonly<Record<string, string | number>>): Promise<PgBouncer> {
    const pooler = await startPgBouncer(by, { adminUrl, settings });
    poolers.push(pooler);
    return pooler;
  }
}

async function poolerFinding(
  installation: Installation,
  env: Readonly<Record<string, string>>,
): Promise<unknown> {
  const { stdout } = await installation.run(['doctor', '--json'], { env });
  return (JSON.parse(stdout) as { what: string }[]).find(({ what }) => what === 'pooler');
}

function openPooled(url: string): Warehouse {
  const warehouse = openWarehouse({ url, connections: 4 });
  onTestFinished(() => warehouse.close());
  return warehouse;
}

/** The state that earlier clients left in the sessions behind a pooler. Separate transactions take each session. */
async function leftBehind(url: string, sessions: number): Promise<unknown[]> {
  const clients = await Promise.all(
    Array.from({ length: sessions }, async () => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.query('begin');
      return client;
    }),
  );
  const left = await Promise.all(clients.map((client) => client.query(leftSql)));
  await Promise.all(clients.map((client) => client.end()));
  return left.flatMap((result) => result.rows as unknown[]);
}

/** Ignores the settings that a pooler itself makes for each client: see ParameterStatus of the protocol. */
const leftSql = `
  select name || ' = ' || setting as left from pg_settings
  where source = 'session' and lower(name) not in ('timezone', 'datestyle', 'client_encoding', 'application_name', 'intervalstyle', 'standard_conforming_strings')
  union all
  select 'lock ' || objid from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()
  union all
  select 'statement ' || name from pg_prepared_statements where name not like 'PGBOUNCER%'`;
