import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { freePort } from '../../embedded/free-port.ts';
import { processTable } from '../../embedded/process-table.ts';
import { pythonWithSpark } from '../../marts/python-with-dbt.ts';
import { forFewRows, martsOnSpark } from '../books/on-spark.ts';
import { createTestLake } from '../lake/create-test-lake.ts';
import { startS3Server, type S3Server } from '../lake/s3-server.ts';
import { eventually } from '../support/eventually.ts';
import { bill } from '../support/finance-records.ts';
import { hasJava } from '../support/has-java.ts';
import { land } from '../support/land.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { buildEnvironment } from './build-environment.ts';
import { startSparkCluster } from './spark-cluster.ts';
import { cacheFolder } from '../support/cache-folder.ts';

vi.setConfig({ testTimeout: 3_600_000, hookTimeout: 3_600_000 });

const { warehouse, url } = await createTestDatabase();
const folder = await mkdtemp(join(tmpdir(), 'daybook-test-spark-cluster-'));
afterAll(() => rm(folder, { recursive: true, force: true }));
const conf = join(folder, 'conf');
const s3 = await startS3Server();
const { exportNow } = await createTestLake(url, { lake: s3.location });
const port = await freePort();
const { home, build, startBuild } = await buildEnvironment({
  databaseUrl: url,
  lake: s3.location,
  env: { ...s3.env, SPARK_CONF_DIR: conf, DAYBOOK_SPARK_MASTER: `spark://127.0.0.1:${port}` },
});

/** Settings that docs/connect/spark.md requires for a standalone cluster. */
const authenticated = `
spark.authenticate            true
spark.authenticate.secret     ${randomBytes(16).toString('hex')}
spark.network.crypto.enabled  true
spark.executor.memory         1g
`;

test.skipIf(!hasJava())(
  'a Spark cluster builds marts from a lake in a bucket, and Ctrl-C ends a build with all that it has started',
  async () => {
    const connectionId = await addTestConnection(warehouse);
    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('one'), bill('two')]] });
    const { snapshotId } = await exportNow({ iceberg: { add: true, cacheFolder } });

    await mkdir(conf);
    await writeFile(join(conf, 'spark-defaults.conf'), forFewRows + authenticated);
    const python = await pythonWithSpark({ cacheFolder, onStep: () => undefined });
    const logs = await startSparkCluster({ port, python, conf, folder, env: loginOf(s3) });

    const built = await build('spark');
    expect(built.code, built.stderr).toBe(0);
    expect(built.stdout).toContain(`Built 24 marts with Spark on snapshot ${snapshotId} as of `);
    expect(await logs()).toMatch(/Asked to launch executor app-\S+ for daybook/);
    expect((await martsOnSpark(url, folder)).get('bills')?.rows).toHaveLength(2);

    await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('three')]] });
    await exportNow({ iceberg: { add: true, cacheFolder } });
    const building = startBuild('spark');
    await building.waitForOutput(/marts are being built on Spark, on snapshot /);
    await building.stop('SIGINT');
    await eventually(async () => {
      const left = (await processTable()).filter(({ commandLine }) => commandLine.includes(home));
      return left.length === 0 ? 'ended' : undefined;
    });
    await eventually(async () => {
      const removed = (await logs()).match(/Removing app app-/g) ?? [];
      return removed.length === 2 ? 'removed' : undefined;
    });
    expect((await martsOnSpark(url, folder)).get('bills')?.rows).toHaveLength(2);

    const again = await build('spark');
    expect(again.code, again.stderr).toBe(0);
    expect((await martsOnSpark(url, folder)).get('bills')?.rows).toHaveLength(3);
    expect(existsSync(join(home, 'dbt', 'spark', 'scratch'))).toBe(false);
  },
);

/** The credentials from the workers' own environment; the driver tells them where the bucket is. */
function loginOf({ env }: S3Server): Record<string, string> {
  const names = ['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'];
  return Object.fromEntries(names.map((name) => [name, env[name] ?? '']));
}
