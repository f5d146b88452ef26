import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { prepareDatabase } from '../../embedded/prepare-database.ts';
import { migrate } from '../../warehouse/schema/migrate.ts';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import { buildProduct } from './build-product.ts';
import { pgBouncerProgram } from './pgbouncer-program.ts';
import { startPgBouncer, type PgBouncer } from './pgbouncer.ts';
import { startTestPostgres } from './postgres-server.ts';
import { s3OnDemand } from './s3-on-demand.ts';
import { temporalOnDemand } from './temporal-on-demand.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The test run's Postgres: database `postgres` as superuser. */
    readonly postgresAdminUrl: string;
    /** The same server as the owner of databases, through a pooler if the tests run through one. */
    readonly postgresUrl: string;
    /** The folder that `test/support/open-kept-databases.ts` takes. */
    readonly testFolder: string;
    /** Answers with the address of the test run's Temporal server, or with a namespace of it. The first request starts the server. */
    readonly temporalOnDemandUrl: string;
    /** Answers with the endpoint of the test run's S3 server. The first request starts the server. */
    readonly s3OnDemandUrl: string;
  }
}

/**
 * Sets up the whole test run: one build of the product, which the processes of tests run; one Postgres, with a migrated database to clone;
 * one Temporal and one S3 server, once a test asks for them.
 * `TEST_POSTGRES_URL` (of user `postgres`, with its password) names an empty server of another version. With `TEST_POOLER=transaction`
 * databases are reached only through PgBouncer.
 */
export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-test-'));
  const building = buildProduct(join(folder, 'product'));
  building.catch(() => undefined); // Awaited below; it runs while Postgres starts.
  const given = process.env.TEST_POSTGRES_URL;
  const postgres = given === undefined ? await startTestPostgres(folder) : await useGiven(given);
  const temporal = await temporalOnDemand(folder);
  const s3 = await s3OnDemand(folder);
  const pooler = await poolerInFront(postgres);
  const tearDown = async (): Promise<void> => {
    await temporal.stop();
    await s3.stop();
    await pooler?.stop();
    const kept = await keptDatabases(postgres);
    await postgres.stop();
    if (!kept) await rm(folder, { recursive: true, force: true });
  };
  try {
    await migrateTemplate(postgres);
    process.env.TEST_DAYBOOK = await building;
  } catch (error) {
    await Promise.allSettled([building]);
    await tearDown();
    throw error;
  }
  project.provide('postgresAdminUrl', postgres.adminUrl);
  project.provide('postgresUrl', pooler?.through(postgres.url) ?? postgres.url);
  project.provide('testFolder', folder);
  project.provide('temporalOnDemandUrl', temporal.url);
  project.provide('s3OnDemandUrl', s3.url);
  return tearDown;
}

/** Started by the test run, or given to it. */
interface TestPostgres {
  readonly url: string;
  readonly adminUrl: string;
  stop(): Promise<void>;
}

async function useGiven(adminUrl: string): Promise<TestPostgres> {
  const url = new URL(adminUrl);
  await prepareDatabase(adminUrl, url.password);
  url.username = url.pathname = 'daybook';
  return { adminUrl, url: url.href, stop: () => Promise.resolve() };
}

async function poolerInFront({ adminUrl }: TestPostgres): Promise<PgBouncer | undefined> {
  if (process.env.TEST_POOLER !== 'transaction') return undefined;
  const program = await pgBouncerProgram();
  if (typeof program !== 'string') throw new Error(`TEST_POOLER is set, but ${program.lacks}.`);
  process.env.TEST_POSTGRES_HOST = new URL(adminUrl).host;
  return startPgBouncer(program, { adminUrl, settings: { max_prepared_statements: 200 } });
}

/** Migrates database `daybook`, the template. It can be cloned only when no session is connected to it. */
async function migrateTemplate(postgres: TestPostgres): Promise<void> {
  const warehouse = openWarehouse({ url: postgres.url, connections: 1 });
  try {
    await migrate(warehouse);
  } finally {
    await warehouse.close();
  }
}

/** Test files drop their databases, except those in which a test failed. */
async function keptDatabases(postgres: TestPostgres): Promise<boolean> {
  const client = new pg.Client({ connectionString: postgres.adminUrl });
  await client.connect();
  try {
    const { rowCount } = await client.query(`select from pg_database where datname like 'test\\_%'`);
    return (rowCount ?? 0) > 0;
  } finally {
    await client.end();
  }
}
