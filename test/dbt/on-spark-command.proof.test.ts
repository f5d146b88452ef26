import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { forFewRows, martsOnSpark } from '../books/on-spark.ts';
import { createTestLake } from '../lake/export-of.ts';
import { bill } from '../support/finance-records.ts';
import { hasJava } from '../support/has-java.ts';
import { land } from '../support/land.ts';
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
const { exportNow } = await createTestLake(url, { lake });
const { build, startBuild } = await buildEnvironment({
  databaseUrl: url,
  lake,
  env: { SPARK_CONF_DIR: conf },
});
const iceberg = { add: true, cacheFolder: join(homedir(), '.cache', 'daybook') };

let connectionId: string;

beforeAll(async () => {
  await mkdir(conf);
  await writeFile(join(conf, 'spark-defaults.conf'), forFewRows);
  connectionId = await addTestConnection(warehouse);
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('one')]] });
  await exportNow({ iceberg });
});

test.skipIf(!hasJava())(
  'a build on Spark that is killed publishes nothing; the next one does, and the one after it is of the next snapshot',
  async () => {
    const building = startBuild('spark');
    await building.says(/marts are being built on Spark, on snapshot /);
    await building.stop('SIGKILL');
    expect(await tables('marts_spark')).toEqual([]);

    const first = await build('spark');
    expect(first.stderr).toContain('the marts are being published');
    // What the JVM has to say is in a file.
    expect(first.stderr).not.toMatch(/WARN|log4j/i);
    expect(first.stdout).toMatch(
      /^Built 24 marts with Spark on snapshot \S+ as of \S+: \d+ models, \d+ tests, /,
    );
    expect(first.code).toBe(0);
    expect(await tables('marts_spark_build')).toEqual([]);
    expect(await tables('marts_spark')).toHaveLength(25);
    expect((await martsOnSpark(url, folder)).get('bills')?.rows).toHaveLength(1);

    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('two')]] });
    await exportNow({ iceberg });
    const second = await build('spark');
    expect(second.code, second.stderr).toBe(0);
    expect((await martsOnSpark(url, folder)).get('bills')?.rows).toHaveLength(2);
    expect(
      await rows(warehouse, `select status from sync.runs where target = 'spark' order by started_at`),
    ).toEqual(['interrupted', 'succeeded', 'succeeded'].map((status) => ({ status })));
  },
);

function tables(namespace: string): Promise<Record<string, unknown>[]> {
  return rows(warehouse, 'select table_name from iceberg.iceberg_tables where table_namespace = $1', [
    namespace,
  ]);
}
