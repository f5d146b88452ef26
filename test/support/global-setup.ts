import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { freePort } from '../../embedded/free-port.ts';
import { startPostgres, type PostgresServer } from '../../embedded/postgres.ts';
import { migrate } from '../../warehouse/migrate.ts';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import { temporalOnDemand } from './temporal-on-demand.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The test run's Postgres: database `postgres` as superuser. */
    readonly postgresAdminUrl: string;
    /** The folder that `test/support/open-kept-databases.ts` takes. */
    readonly testFolder: string;
    /** Answers with the address of the test run's Temporal server, which the first question starts. */
    readonly temporalOnDemandUrl: string;
  }
}

/** One Postgres for the whole test run, with a migrated database to clone; one Temporal server, once a test asks for it. */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-test-'));
  const postgres = await startPostgres({
    dataDir: join(folder, 'postgres'),
    port: await freePort(),
    // The data lives as long as the test run, so nothing waits for a disk.
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '200' },
  });
  const temporal = await temporalOnDemand(folder);
  const tearDown = async (): Promise<void> => {
    await temporal.stop();
    const kept = await keptDatabases(postgres);
    await postgres.stop();
    if (!kept) await rm(folder, { recursive: true, force: true });
  };
  try {
    await migrateTemplate(postgres);
  } catch (error) {
    await tearDown();
    throw error;
  }
  project.provide('postgresAdminUrl', postgres.adminUrl);
  project.provide('testFolder', folder);
  project.provide('temporalOnDemandUrl', temporal.url);
  return tearDown;
}

/** Database `daybook` is the template: only sessions that ended let it be cloned. */
async function migrateTemplate(postgres: PostgresServer): Promise<void> {
  const warehouse = openWarehouse({ url: postgres.url, connections: 1 });
  try {
    await migrate(warehouse);
  } finally {
    await warehouse.close();
  }
}

/** Test files drop their databases, except those in which a test failed. */
async function keptDatabases(postgres: PostgresServer): Promise<boolean> {
  const client = new pg.Client({ connectionString: postgres.adminUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query(`select from pg_database where datname like 'test\\_%'`);
    return (rowCount ?? 0) > 0;
  } finally {
    await client.end();
  }
}
