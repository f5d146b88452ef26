import { randomBytes } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { processTable, type ProcessEntry } from '../../embedded/process-table.ts';
import { forFewRows, martsOnSpark } from '../books/on-spark.ts';
import { createTestLake } from '../lake/create-test-lake.ts';
import { findPlanted, type Place } from '../security/find-planted.ts';
import { recordCommandLines } from '../security/record-command-lines.ts';
import { bill, expense } from '../support/finance-records.ts';
import { hasJava } from '../support/has-java.ts';
import { land } from '../support/land.ts';
import { bypassPooler } from '../support/bypass-pooler.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { askForBroadcasts, portsOf } from './blocks-of-spark.ts';
import { buildEnvironment } from './build-environment.ts';
import { cacheFolder } from '../support/cache-folder.ts';

vi.setConfig({ testTimeout: 3_600_000 });

/** A password with every character that has a meaning in a password file or an address. */
const oddPassword = `: \\ \\: # ' " % ${randomBytes(12).toString('hex')} \\`;

const { warehouse, url, adminUrl } = await createTestDatabase();
const folder = await mkdtemp(join(tmpdir(), 'daybook-test-spark-command-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
const lake = join(folder, 'lake');
const conf = join(folder, 'conf');
const outside = join(folder, 'outside');
const { exportNow } = await createTestLake(url, { lake });
const { home, build, startBuild } = await buildEnvironment({
  databaseUrl: url,
  lake,
  env: { SPARK_CONF_DIR: conf, DAYBOOK_DATABASE_DIRECT_URL: await withOddPassword() },
});
const scratch = join(home, 'dbt', 'spark', 'scratch');
const iceberg = { add: true, cacheFolder };

/** Vendor names by ID. The IDs are words for no value, ends of texts or lines, and Spark's variables. */
const vendors = {
  null: 'One',
  NULL: 'Two',
  [`a'\r\\`]: 'Three',
  '${a}': 'Four',
  '${b}': '${env:DAYBOOK_SPARK_PASSWORD}',
  '${env:DAYBOOK_SPARK_PASSWORD}': '${spark:spark.app.name} ${system:user.name}',
};

const secrets = { password: new URL(url).password, 'odd password': oddPassword };

/** The programs of a build: the one that runs dbt, and Spark. */
const programs = ['run_dbt_on_spark.py', 'org.apache.spark.deploy.SparkSubmit'];

let connectionId: string;

beforeAll(async () => {
  await mkdir(conf);
  await writeFile(join(conf, 'spark-defaults.conf'), forFewRows);
  connectionId = await addTestConnection(warehouse);
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('one')]] });
  const expenses = Object.keys(vendors).map((id, at) => expense(`e${at}`, { vendor_id: JSON.stringify(id) }));
  await land(warehouse, { connectionId, stream: 'expenses', pages: [expenses] });
  await mkdir(join(home, 'seeds'), { recursive: true });
  const seed = Object.entries(vendors)
    .map(([id, name]) => `${connectionId},"${id}",${name}\n`)
    .join('');
  await writeFile(join(home, 'seeds', 'vendor_names.csv'), `connection_id,vendor_id,vendor_name\n${seed}`);
  await exportNow({ iceberg });
});

test.skipIf(!hasJava())(
  'a killed build on Spark publishes nothing, and each later build publishes the latest snapshot',
  async () => {
    const building = startBuild('spark');
    await building.waitForOutput(/marts are being built on Spark, on snapshot /);
    // A killed JVM leaves its files where an erasure removes them.
    const written = await readdir(scratch);
    expect(written.map((name) => name.replace(/-.*/, ''))).toEqual(
      expect.arrayContaining(['blockmgr', 'spark']),
    );
    const [python, jvm] = await Promise.all(programs.map(processOf));
    expect(findPlanted(await Promise.all([python, jvm].map(environmentOf)), secrets)).toEqual([]);
    expect((await stat(join(scratch, 'pgpass'))).mode & 0o777).toBe(0o600);
    const asked = await Promise.all((await portsOf(jvm?.pid ?? 0)).map(askForBroadcasts));
    const blocks = asked.flatMap((port) => port.blocks);
    expect(findPlanted([{ name: 'blocks', content: Buffer.concat(blocks) }], secrets)).toEqual([]);
    expect(blocks).toHaveLength(0);
    const refusals = asked.flatMap((port) => [...port.refusals]);
    // Spark has one port for messages and one for blocks. The port of Python does not know the request.
    expect(refusals.filter((why) => why.includes('Expected SaslMessage'))).toHaveLength(2);
    await building.stop('SIGKILL');
    expect(await tables('marts_spark')).toEqual([]);

    const recorded = recordCommandLines();
    const first = await build('spark');
    const commandLines = await recorded();
    expect(commandLines.content).toContain('org.apache.spark.deploy.SparkSubmit');
    expect(findPlanted([commandLines], secrets)).toEqual([]);
    expect(first.stderr).toContain('the marts are being published');
    // The JVM's output goes to a file.
    expect(first.stderr).not.toMatch(/WARN|log4j/i);
    expect(first.code, first.stderr).toBe(0);
    await expect(readdir(scratch)).rejects.toThrow('ENOENT');
    expect(first.stdout).toMatch(
      /^Built 24 marts with Spark on snapshot \S+ as of \S+: \d+ models, \d+ tests, /,
    );
    expect(await tables('marts_spark_build')).toEqual([]);
    expect(await tables('marts_spark')).toHaveLength(25);
    const marts = await martsOnSpark(url, folder);
    expect(marts.get('bills')?.rows).toHaveLength(1);
    const named = marts.get('vendors')?.rows.filter(({ is_inferred }) => is_inferred === 'false') ?? [];
    expect(named.map((row) => [row.vendor_id, row.known_name]).sort()).toEqual(
      Object.entries(vendors).sort(),
    );

    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('two')]] });
    await exportNow({ iceberg });
    const published = await catalogOf('marts_spark');
    const losing = startBuild('spark');
    await losing.waitForOutput(/the marts are being published/);
    // The owner may not end the sessions of a login that acts as the owner.
    await asAdmin(`select pg_terminate_backend(pid, 10000) from pg_stat_activity
      where datname = current_database() and application_name = 'daybook lock'`);
    const lost = await losing.ended;
    expect(lost.stderr).toContain('The lock on the marts of Spark was lost');
    expect(lost.code).toBe(1);
    expect(await catalogOf('marts_spark')).toEqual(published);

    await plantMetadata();
    const second = await build('spark');
    expect(second.code, second.stderr).toBe(0);
    expect((await martsOnSpark(url, folder)).get('bills')?.rows).toHaveLength(2);
    expect((await readdir(outside)).sort()).toEqual(['precious0', 'precious1', 'precious2', 'precious3']);
    expect(
      await rows(warehouse, `select status from sync.runs where target = 'spark' order by started_at`),
    ).toEqual(['interrupted', 'succeeded', 'interrupted', 'succeeded'].map((status) => ({ status })));
  },
);

/** The process of this build with that program. */
async function processOf(program: string): Promise<ProcessEntry | undefined> {
  const all = await processTable();
  return all.find(({ commandLine }) => commandLine.includes(program) && commandLine.includes(home));
}

/** The environment with which a process was started. */
async function environmentOf(entry: ProcessEntry | undefined): Promise<Place> {
  const content = await readFile(`/proc/${entry?.pid ?? 0}/environ`, 'utf8');
  expect(content).toContain('SPARK_LOCAL_DIRS');
  return { name: `the environment of ${entry?.commandLine ?? ''}`, content };
}

/** The address of Postgres itself, for a login that acts as the owner. */
async function withOddPassword(): Promise<string> {
  const login = `spark_${randomBytes(6).toString('hex')}`;
  await asAdmin(`create role ${login} login password ${pg.escapeLiteral(oddPassword)} in role daybook;
    alter role ${login} set role = 'daybook'`);
  afterAll(() => asAdmin(`drop role ${login}`));
  const direct = new URL(bypassPooler(url));
  direct.username = login;
  direct.password = encodeURIComponent(oddPassword);
  return direct.href;
}

async function asAdmin(statements: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  await client.query(statements).finally(() => client.end());
}

/** Plants metadata that names another place to write to, and files to remove, as anyone who can write in the lake can. */
async function plantMetadata(): Promise<void> {
  const old = [0, 1, 2, 3].map((one) => join(outside, `precious${one}`));
  await mkdir(outside);
  for (const file of old) await writeFile(file, 'books');
  const [table] = await rows(
    warehouse,
    `select metadata_location from iceberg.iceberg_tables
     where table_namespace = 'marts_spark' and table_name = 'vendors'`,
  );
  const file = fileURLToPath(String(table?.metadata_location));
  const log = old.map((path, at) => ({ 'metadata-file': `file://${path}`, 'timestamp-ms': at }));
  const properties = {
    'write.data.path': `file://${outside}/stolen`,
    'write.metadata.delete-after-commit.enabled': 'true',
    'write.metadata.previous-versions-max': '1',
  };
  // Edited as text, because the IDs of snapshots do not fit in JavaScript numbers.
  const planted = (await readFile(file, 'utf8'))
    .replace(/"properties":\s*\{/, (start) => `${start}${JSON.stringify(properties).slice(1, -1)},`)
    .replace(/"metadata-log":\s*\[[^\]]*\]/, `"metadata-log":${JSON.stringify(log)}`);
  expect(planted).toContain('precious3');
  expect(planted).toContain('stolen');
  await writeFile(file, planted);
  // Removes Hadoop's checksum of the former content.
  await rm(join(file, '..', `.${file.split('/').at(-1)}.crc`), { force: true });
}

/** The tables of a namespace, each with the path of its metadata, which a commit replaces. */
function catalogOf(namespace: string): Promise<Record<string, unknown>[]> {
  const tablesIn = 'from iceberg.iceberg_tables where table_namespace = $1 order by 1';
  return rows(warehouse, `select table_name, metadata_location ${tablesIn}`, [namespace]);
}

function tables(namespace: string): Promise<Record<string, unknown>[]> {
  return rows(warehouse, 'select table_name from iceberg.iceberg_tables where table_namespace = $1', [
    namespace,
  ]);
}
