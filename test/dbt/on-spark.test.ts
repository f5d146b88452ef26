import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { openLake } from '../../lake/open-lake.ts';
import { jdbcAddress } from '../../marts/jdbc-address.ts';
import { clearSparkNamespace } from '../../marts/spark-namespaces.ts';
import { sparkSettings } from '../../marts/spark-settings.ts';
import { dropSparkMarts } from '../../operations/clear-host.ts';
import { createTestLake } from '../lake/create-test-lake.ts';
import { findPlanted } from '../security/find-planted.ts';
import { pgBouncerProgram } from '../support/pgbouncer-program.ts';
import { startPgBouncer } from '../support/pgbouncer.ts';
import { rows } from '../support/rows.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { buildEnvironment } from './build-environment.ts';
import { dbtFolder } from './marts-of.ts';
import { cacheFolder } from '../support/cache-folder.ts';

// Does not install or run Spark; test/books/on-spark.proof.test.ts does.
const { warehouse, url, adminUrl } = await createTestDatabase();
const folder = await mkdtemp(join(tmpdir(), 'daybook-test-on-spark-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
const lake = join(folder, 'lake');
const { exportNow } = await createTestLake(url, { lake });
const { home, build } = await buildEnvironment({ databaseUrl: url, lake });

test('models and macros call no function that returns a double on Spark', async () => {
  const files = (await readdir(dbtFolder, { recursive: true })).filter(
    (file) => /^(models|macros)\/.*\.sql$/.test(file) && !file.startsWith('macros/engine/'),
  );
  expect(files.length).toBeGreaterThan(50);
  const sources = await Promise.all(files.map((file) => readFile(join(dbtFolder, file), 'utf8')));
  // `floor` and `round` of decimals are decimals in Spark too.
  const doubles = /\b(sign|signum|power|pow|sqrt|exp|ln|log|log10|cbrt|stddev|variance|percentile_cont)\s*\(/;
  expect(files.filter((_, index) => doubles.test(sources[index] ?? ''))).toEqual([]);
});

test('a build on Spark without Java builds nothing, and says in one sentence what to install', async () => {
  const nothing = join(folder, 'nothing');
  const { code, stdout, stderr } = await build('spark', { PATH: nothing, JAVA_HOME: nothing });
  expect(stderr.trim()).toBe(
    'Spark needs Java 17 or newer, and there is no java in JAVA_HOME or on PATH: install it, then run "daybook dbt build --target spark" again.',
  );
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
  const old = await build('spark', { JAVA_HOME: await javaOf('1.8.0_402') });
  expect(old.stderr).toContain('Spark needs Java 17 or newer, and java is 1.8.0_402: install it');
});

test('a build on Spark before the Iceberg tables show a snapshot builds nothing, and says what to run first', async () => {
  await exportNow();
  const { code, stderr } = await build('spark', { JAVA_HOME: await javaOf('17.0.15') });
  expect(stderr.trim()).toBe(
    `Spark reads Iceberg tables, and those of the lake ${lake} show no snapshot yet: run "daybook export --iceberg" first.`,
  );
  expect(code).toBe(2);
  expect(await rows(warehouse, `select status, target from sync.runs where target = 'spark'`)).toEqual([
    { status: 'unsupported', target: 'spark' },
    { status: 'unsupported', target: 'spark' },
    { status: 'unsupported', target: 'spark' },
  ]);
});

test('a build on Spark behind a pooler builds nothing, and says which address Spark needs', async (context) => {
  const program = await pgBouncerProgram();
  if (typeof program !== 'string') return context.skip(program.lacks);
  const pooler = await startPgBouncer(program, { adminUrl, settings: { max_prepared_statements: 200 } });
  onTestFinished(() => pooler.stop());
  await warehouse.pool.query(
    `insert into iceberg.iceberg_tables (catalog_name, table_namespace, table_name) values ('daybook', 'finance', 'snapshots')`,
  );
  onTestFinished(async () => {
    await warehouse.pool.query('delete from iceberg.iceberg_tables');
  });
  const env = { JAVA_HOME: await javaOf('17.0.15'), DATABASE_URL: pooler.through(url) };
  const { code, stderr } = await build('spark', env);
  expect(stderr.trim()).toBe(
    'Spark reads the catalog of the Iceberg tables in sessions of its own, and there is a pooler in front of Postgres: give DAYBOOK_DATABASE_DIRECT_URL the address of Postgres itself.',
  );
  expect(code).toBe(2);
});

test('the database address that Spark gets has no password, which is in a file that only its owner can read', async () => {
  const scratch = await mkdtemp(join(folder, 'scratch-'));
  const password = String.raw`a:b\c'd"e %41é`;
  const address = new URL('postgresql://[::1]:5433/');
  address.username = 'us:er';
  address.password = encodeURIComponent(password);
  address.pathname = 'of a:b';
  const { catalog, user, passwordFile } = await jdbcAddress(address.href, {
    folder: scratch,
    buildLock: '12 3/456',
  });
  expect(catalog).toMatch(/^jdbc:postgresql:\/\/\[::1\]:5433\/of%20a%3Ab\?currentSchema=iceberg&/);
  expect(new URLSearchParams(catalog.split('?')[1]).get('options')).toBe(
    String.raw`-c daybook.build_lock=12\ 3/456`,
  );
  expect(user).toBe('us:er');
  expect(
    findPlanted([{ name: 'the address', content: decodeURIComponent(catalog) + user }], { password }),
  ).toEqual([]);
  expect(await readFile(passwordFile, 'utf8')).toBe(String.raw`*:*:*:*:a\:b\\c'd"e %41é` + '\n');
  expect((await stat(passwordFile)).mode & 0o777).toBe(0o600);
  address.password = 'of%0Atwo lines';
  const other = await mkdtemp(join(folder, 'scratch-'));
  await expect(jdbcAddress(address.href, { folder: other, buildLock: '12 3/456' })).rejects.toThrow(
    'The marts were not built on Spark: the password of the database has a line break, which a password file cannot hold.',
  );
});

test.each(['local', 'local[2]', 'local[*]'])(
  'the settings of Spark on %s require authentication, whatever a configuration file says',
  (master) => {
    expect(sparkSettings(master, { SPARK_CONF_DIR: folder })).toEqual({ 'spark.authenticate': 'true' });
    expect(sparkSettings(master, {})).toMatchObject({
      'spark.authenticate': 'true',
      'spark.driver.bindAddress': '127.0.0.1',
      'spark.ui.enabled': 'false',
    });
  },
);

test('the removal of Spark’s marts removes them from catalog and lake, and nothing else', async () => {
  await exportNow({ iceberg: { add: true, cacheFolder } });
  const before = await catalog();
  await warehouse.pool.query(
    `insert into iceberg.iceberg_tables (catalog_name, table_namespace, table_name)
     select 'daybook', unnest(array['marts_spark', 'marts_spark_build']), 'bills'`,
  );
  for (const namespace of ['marts_spark', 'marts_spark_build']) {
    await mkdir(join(lake, 'iceberg', namespace, 'bills', 'data'), { recursive: true });
    await writeFile(join(lake, 'iceberg', namespace, 'bills', 'data', 'rows.parquet'), 'content');
  }
  const settings = {
    database: { url, directUrl: url, connections: 2 },
    lake: {
      location: lake,
      scratch: join(folder, 'scratch'),
      format: 'parquet' as const,
      keep: null as never,
    },
    marts: { home, cacheFolder: folder, environment: {}, timeZone: 'UTC', sparkMaster: 'local[*]' },
  };
  expect(await dropSparkMarts({ settings, warehouse })).toBe(false);
  expect(await catalog()).toEqual(before);
  expect((await readdir(join(lake, 'iceberg'))).sort()).toEqual(['finance']);
  const opened = await openLake({ location: lake, scratch: folder });
  expect(await opened.snapshotIds()).toHaveLength(1);
  await opened.close();
});

test.each(['iceberg', 'iceberg/marts_spark'])(
  'the removal of Spark’s marts removes nothing behind a link in the place of %s',
  async (link) => {
    const own = await mkdtemp(join(folder, 'linked-'));
    const victim = join(own, 'victim');
    const precious = link === 'iceberg' ? 'marts_spark/deep/precious' : 'deep/precious';
    await mkdir(join(victim, precious, '..'), { recursive: true });
    await writeFile(join(victim, precious), 'books');
    await mkdir(join(own, 'lake', link, '..'), { recursive: true });
    await symlink(victim, join(own, 'lake', link));
    const opened = await openLake({ location: join(own, 'lake'), scratch: own });
    await clearSparkNamespace(warehouse.pool, opened, { namespace: 'marts_spark', buildLock: '' });
    expect(await readFile(join(victim, precious), 'utf8')).toBe('books');
    await opened.close();
  },
);

function catalog(): Promise<Record<string, unknown>[]> {
  return rows(warehouse, 'select table_namespace, table_name from iceberg.iceberg_tables order by 1, 2');
}

/** A Java that only prints its version. */
async function javaOf(version: string): Promise<string> {
  const java = join(folder, version, 'bin', 'java');
  await mkdir(join(folder, version, 'bin'), { recursive: true });
  await writeFile(java, `#!/bin/sh\necho 'openjdk version "${version}" 2026-01-20' >&2\n`);
  await chmod(java, 0o755);
  return join(folder, version);
}
