import { expect, test } from 'vitest';
import { clearSparkNamespace } from '../../marts/spark-namespaces.ts';
import { withBuildLock } from '../../warehouse/marts/build-lock.ts';
import { openSession } from '../../warehouse/session/open-session.ts';
import { loseLock } from '../support/lose-lock.ts';
import { bypassPooler } from '../support/bypass-pooler.ts';
import { rows } from '../support/rows.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse, url } = await createTestDatabase();

const commits = {
  creates: `insert into iceberg.iceberg_tables (catalog_name, table_namespace, table_name) values ('daybook', 'marts_spark', 'bills')`,
  replaces: `update iceberg.iceberg_tables set metadata_location = 'of this build' where table_name = 'bills'`,
  drops: `delete from iceberg.iceberg_tables where table_name = 'bills'`,
};

test('the catalog refuses the commits of a build with Spark that has lost its lock, also beside the next build', async () => {
  await withLock(async (transaction) => {
    const spark = await sessionOfSpark(transaction);
    for (const commit of Object.values(commits)) expect((await spark.query(commit)).rowCount).toBe(1);
    await spark.query(commits.creates);
    await spark.query(commits.replaces);
    await loseLock(warehouse);
    await withLock(async (next) => {
      expect(next).not.toBe(transaction);
      for (const commit of Object.values(commits))
        await expect(spark.query(commit)).rejects.toThrow('This build has lost its lock');
      const lake = { removeFolder: () => Promise.reject(new Error('removes files')) };
      const clearing = { namespace: 'marts_spark', buildLock: transaction } as const;
      await expect(clearSparkNamespace(spark, lake as never, clearing)).rejects.toThrow('has lost its lock');
    });
    await spark.end();
  });
  expect(await rows(warehouse, 'select metadata_location from iceberg.iceberg_tables')).toEqual([
    { metadata_location: 'of this build' },
  ]);
});

test('the catalog refuses the commits of the program of Iceberg tables that has lost its lock', async () => {
  await warehouse.pool.query(
    `insert into iceberg.iceberg_namespace_properties values ('daybook', 'finance', 'exists', 'true') on conflict do nothing`,
  );
  const lock = await openSession(bypassPooler(url), { application: 'daybook iceberg' });
  await lock.query('begin');
  await lock.query(`select from iceberg.iceberg_namespace_properties where namespace = 'finance' for update`);
  const held = await lock.query<{ transaction: string }>(
    `select pid || ' ' || virtualtransaction as transaction from pg_locks where pid = pg_backend_pid() limit 1`,
  );
  const writer = await openSession(bypassPooler(url), { application: 'daybook iceberg' });
  await writer.query(`select set_config('daybook.tables_lock', $1, false)`, [held.rows[0]?.transaction]);
  await writer.query(commits.drops);
  expect((await writer.query(commits.creates)).rowCount).toBe(1);
  await lock.query('rollback');
  for (const commit of [commits.replaces, commits.drops])
    await expect(writer.query(commit)).rejects.toThrow('This program has lost its lock');
  await lock.end();
  await writer.end();
});

test('sessions that name no lock, of the other tables and of readers’ own tools, commit as before', async () => {
  const client = await openSession(url, { application: 'daybook iceberg' });
  await client.query(commits.drops);
  for (const commit of Object.values(commits)) expect((await client.query(commit)).rowCount).toBe(1);
  await client.end();
});

async function withLock(work: (transaction: string) => Promise<void>): Promise<void> {
  await withBuildLock({ databaseUrl: url, target: 'spark' }, ({ transaction }) => work(transaction));
}

/** As `jdbcAddress` tells the driver to open one. */
async function sessionOfSpark(transaction: string) {
  const client = await openSession(bypassPooler(url), { application: 'daybook spark' });
  await client.query(`select set_config('daybook.build_lock', '${transaction}', false)`);
  return client;
}
