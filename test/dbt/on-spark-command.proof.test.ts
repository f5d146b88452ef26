import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { processTable } from '../../embedded/process-table.ts';
import { forFewRows, martsOnSpark } from '../books/on-spark.ts';
import { createTestLake } from '../lake/export-of.ts';
import { findPlanted, type Place } from '../security/find-planted.ts';
import { recordCommandLines } from '../security/record-command-lines.ts';
import { bill, expense } from '../support/finance-records.ts';
import { hasJava } from '../support/has-java.ts';
import { land } from '../support/land.ts';
import { pastThePooler } from '../support/past-the-pooler.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { buildEnvironment } from './build-environment.ts';

vi.setConfig({ testTimeout: 3_600_000 });

const { warehouse, url } = await createTestDatabase();
const folder = await mkdtemp(join(tmpdir(), 'daybook-test-spark-command-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
const lake = join(folder, 'lake');
const conf = join(folder, 'conf');
const outside = join(folder, 'outside');
const { exportNow } = await createTestLake(url, { lake });
const { home, build, startBuild } = await buildEnvironment({
  databaseUrl: url,
  lake,
  env: { SPARK_CONF_DIR: conf, DAYBOOK_DATABASE_DIRECT_URL: pastThePooler(url) },
});
const iceberg = { add: true, cacheFolder: join(homedir(), '.cache', 'daybook') };

/** The names of some by their IDs: words for no value, what ends a text or a line, and what Spark calls variables. */
const vendors = {
  null: 'One',
  NULL: 'Two',
  [`a'\r\\`]: 'Three',
  '${a}': 'Four',
  '${b}': '${env:DAYBOOK_SPARK_PASSWORD}',
  '${env:DAYBOOK_SPARK_PASSWORD}': '${spark:spark.app.name} ${system:user.name}',
};

const secrets = { password: new URL(url).password };

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
  'a build on Spark that is killed publishes nothing; the next one does, and the one after it is of the next snapshot',
  async () => {
    const building = startBuild('spark');
    await building.says(/marts are being built on Spark, on snapshot /);
    // What a killed JVM leaves on the disk is where an erasure removes it.
    const scratch = await readdir(join(home, 'dbt', 'spark', 'scratch'));
    expect(scratch.map((name) => name.replace(/-.*/, ''))).toEqual(
      expect.arrayContaining(['blockmgr', 'spark']),
    );
    expect(findPlanted([await environmentOfSpark()], secrets)).toEqual([]);
    await building.stop('SIGKILL');
    expect(await tables('marts_spark')).toEqual([]);

    const recorded = recordCommandLines();
    const first = await build('spark');
    const commandLines = await recorded();
    expect(commandLines.content).toContain('org.apache.spark.deploy.SparkSubmit');
    expect(findPlanted([commandLines], secrets)).toEqual([]);
    expect(first.stderr).toContain('the marts are being published');
    // What the JVM has to say is in a file.
    expect(first.stderr).not.toMatch(/WARN|log4j/i);
    expect(first.code, first.stderr).toBe(0);
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
    await plantMetadata();
    const second = await build('spark');
    expect(second.code, second.stderr).toBe(0);
    expect((await martsOnSpark(url, folder)).get('bills')?.rows).toHaveLength(2);
    expect((await readdir(outside)).sort()).toEqual(['precious0', 'precious1', 'precious2', 'precious3']);
    expect(
      await rows(warehouse, `select status from sync.runs where target = 'spark' order by started_at`),
    ).toEqual(['interrupted', 'succeeded', 'succeeded'].map((status) => ({ status })));
  },
);

/** Of the JVM of this build, as it was started. */
async function environmentOfSpark(): Promise<Place> {
  const jvm = (await processTable()).find(
    ({ commandLine }) =>
      commandLine.includes('org.apache.spark.deploy.SparkSubmit') && commandLine.includes(home),
  );
  const content = await readFile(`/proc/${jvm?.pid ?? 0}/environ`, 'utf8');
  expect(content).toContain('SPARK_LOCAL_DIRS');
  return { name: 'the environment of Spark', content };
}

/** Whoever can write in the lake names another place to write to, and files to remove. */
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
  // As text: the IDs of snapshots are no numbers of JavaScript.
  const planted = (await readFile(file, 'utf8'))
    .replace(/"properties":\s*\{/, (start) => `${start}${JSON.stringify(properties).slice(1, -1)},`)
    .replace(/"metadata-log":\s*\[[^\]]*\]/, `"metadata-log":${JSON.stringify(log)}`);
  expect(planted).toContain('precious3');
  expect(planted).toContain('stolen');
  await writeFile(file, planted);
  // Hadoop's sum of what was there.
  await rm(join(file, '..', `.${file.split('/').at(-1)}.crc`), { force: true });
}

function tables(namespace: string): Promise<Record<string, unknown>[]> {
  return rows(warehouse, 'select table_name from iceberg.iceberg_tables where table_namespace = $1', [
    namespace,
  ]);
}
