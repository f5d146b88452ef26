import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeEach, inject } from 'vitest';
import { openWarehouse, type Warehouse } from '../../warehouse/open-warehouse.ts';

/**
 * Creates a database for the test file that calls this at its top, and drops it after the last test. If a test of the file failed, the
 * database is kept, and a line says how to open it.
 *
 * `options` are those of `create database`. The default clones the migrated database by copying its files; the WAL strategy costs Postgres
 * three times as much.
 */
export async function createTestDatabase(
  options = 'template daybook strategy file_copy',
): Promise<TestDatabase> {
  const name = `test_${randomBytes(6).toString('hex')}`;
  const adminUrl = inject('postgresAdminUrl');
  const url = buildDatabaseUrl(inject('postgresUrl'), name);
  const warehouse = openWarehouse({ url, connections: 10 });
  let failed = false;
  beforeEach(({ onTestFailed }) => {
    onTestFailed(() => {
      failed = true;
    });
  });
  afterAll(async () => {
    await warehouse.close();
    if (failed) process.stderr.write(howToOpen(name));
    else await asAdmin(adminUrl, `drop database if exists ${name} with (force)`);
  });
  await asAdmin(adminUrl, `create database ${name} owner daybook ${options}`);
  return { warehouse, url, adminUrl: buildDatabaseUrl(adminUrl, name) };
}

export interface TestDatabase {
  readonly warehouse: Warehouse;
  /** Connects as the owner of the database. */
  readonly url: string;
  /** Connects as superuser. */
  readonly adminUrl: string;
}

function buildDatabaseUrl(server: string, database: string): string {
  const url = new URL(server);
  url.pathname = database;
  return url.href;
}

async function asAdmin(adminUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

function howToOpen(name: string): string {
  const folder = inject('testFolder');
  return `Database ${name} is kept. Open it with: npx tsx test/support/open-kept-databases.ts ${folder}\n`;
}
