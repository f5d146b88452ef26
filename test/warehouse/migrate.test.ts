import { describe, expect, test } from 'vitest';
import { MigrationRefused, SchemaOutdated } from '../../warehouse/errors.ts';
import { checkSchema, migrate } from '../../warehouse/schema/migrate.ts';
import { migrations } from '../../warehouse/migrations/index.ts';
import { openWarehouse, type Warehouse } from '../../warehouse/open-warehouse.ts';
import { proofTest } from '../support/proof-test.ts';
import { row, rows } from '../support/rows.ts';
import { createTestDatabase } from '../support/test-database.ts';

const names = Object.keys(migrations);
const [migrated, older, newer, empty, crowded, foreign, reserved, failing, asciiOnly] = await Promise.all([
  createTestDatabase(),
  createTestDatabase(),
  createTestDatabase(),
  createTestDatabase('template template0'),
  createTestDatabase('template template0'),
  createTestDatabase('template template0'),
  createTestDatabase('template template0'),
  createTestDatabase(),
  createTestDatabase(`template template0 encoding 'SQL_ASCII' locale_provider libc locale 'C'`),
]);

test('an empty database is migrated to this release, and a second migration has nothing to do', async () => {
  const { warehouse } = empty;
  await expect(checkSchema(warehouse)).rejects.toThrow(
    new SchemaOutdated({ missing: names, hasWarehouse: false }),
  );
  expect(await migrate(warehouse)).toEqual({ applied: names, readerSql: null });
  expect(await migrate(warehouse)).toEqual({ applied: [], readerSql: null });
  await checkSchema(warehouse);
});

proofTest('20 concurrent migrations of one empty database apply each migration once', async () => {
  const processes = Array.from({ length: 20 }, () => openWarehouse({ url: crowded.url, connections: 1 }));
  try {
    const results = await Promise.all(processes.map((warehouse) => migrate(warehouse)));
    expect(results.flatMap(({ applied }) => applied).sort()).toEqual([...names].sort());
  } finally {
    await Promise.all(processes.map((warehouse) => warehouse.close()));
  }
});

describe('migrate refuses', () => {
  test('a database with a Daybook schema that it did not make', async () => {
    const { warehouse } = foreign;
    await warehouse.pool.query('create schema marts; create table marts.revenue (amount numeric)');
    await expect(migrate(warehouse)).rejects.toThrow(MigrationRefused);
    await expect(migrate(warehouse)).rejects.toThrow(
      `already has marts, which Daybook did not make. Give Daybook a database of its own.`,
    );
    expect(await schemasOf(warehouse)).toEqual(['marts', 'public']);
  });

  test('an empty schema with a Daybook name, and leaves nothing behind', async () => {
    const { warehouse } = reserved;
    await warehouse.pool.query('create schema finance');
    await expect(migrate(warehouse)).rejects.toThrow(MigrationRefused);
    await expect(migrate(warehouse)).rejects.toThrow('already has finance, which Daybook did not make');
    expect(await schemasOf(warehouse)).toEqual(['finance', 'public']);
    await warehouse.pool.query('alter schema finance rename to marts_b');
    await expect(migrate(warehouse)).rejects.toThrow('already has marts_b, which Daybook did not make');
  });

  test('a warehouse that belongs to another role, even as superuser, and leaves it unchanged', async () => {
    const { name } = await row(migrated.warehouse, 'select current_database() as name');
    const last = names.at(-1) ?? '';
    await rows(migrated.warehouse, `delete from sync.migrations where name = '${last}'`);
    const admin = openWarehouse({ url: migrated.adminUrl, connections: 1 });
    try {
      await expect(migrate(admin)).rejects.toThrow(
        `The warehouse in ${String(name)} belongs to daybook, and DATABASE_URL logs in as postgres: migrate it as daybook.`,
      );
    } finally {
      await admin.close();
    }
    await rows(
      migrated.warehouse,
      `insert into sync.migrations (name, "timestamp") values ('${last}', 'now')`,
    );
    await checkSchema(migrated.warehouse);
  });

  test('a database that is not UTF-8', async () => {
    await expect(migrate(asciiOnly.warehouse)).rejects.toThrow(MigrationRefused);
    await expect(migrate(asciiOnly.warehouse)).rejects.toThrow(/is in SQL_ASCII: Daybook needs one in UTF8/);
    expect(await schemasOf(asciiOnly.warehouse)).toEqual(['public']);
  });
});

test('a failed migration says why, and what to do', async () => {
  const { warehouse } = failing;
  const catalog = names.find((name) => name.endsWith('iceberg-catalog')) ?? '';
  await rows(warehouse, `delete from sync.migrations where name = '${catalog}'`);
  await expect(migrate(warehouse)).rejects.toThrow(
    `The migration ${catalog} failed and was rolled back: schema "iceberg" already exists. ` +
      'Remove the cause, then run "daybook migrate" again.',
  );
});

test('an outdated schema is rejected with the names of the missing migrations', async () => {
  const { warehouse } = older;
  await warehouse.pool.query('delete from sync.migrations where name = $1', [names.at(-1)]);
  await expect(checkSchema(warehouse)).rejects.toThrow(SchemaOutdated);
  await expect(checkSchema(warehouse)).rejects.toThrow(`missing: ${names.at(-1) ?? ''}`);
});

test('a release runs on its own schema and a newer one, which migrate leaves unchanged', async () => {
  await checkSchema(migrated.warehouse);
  const { warehouse } = newer;
  await warehouse.pool.query(
    `insert into sync.migrations (name, timestamp) values ('2999-01-01-from-the-future', '2999-01-01')`,
  );
  await checkSchema(warehouse);
  expect(await migrate(warehouse)).toEqual({ applied: [], readerSql: null });
});

async function schemasOf(warehouse: Warehouse): Promise<unknown[]> {
  const schemas = await rows(
    warehouse,
    `select nspname as name from pg_namespace where nspname not like 'pg\\_%' and nspname <> 'information_schema'
     order by 1`,
  );
  return schemas.map(({ name }) => name);
}
