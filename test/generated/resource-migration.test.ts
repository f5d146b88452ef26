import { beforeAll, describe, expect, test } from 'vitest';
import { resources } from '../../resources/index.ts';
import { migrate } from '../../warehouse/schema/migrate.ts';
import { rows, type Row } from '../support/rows.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { freshnessComments, freshnessView, resourceMigration, resourceTables } from './resource-migration.ts';

/** What is generated for a new resource is what the migrations of all releases have made of the others. */
const released = await createTestDatabase();
const generated = await createTestDatabase();
const tables = resources.flatMap(({ name, children }) => [name, ...children.map(({ table }) => table)]);

beforeAll(async () => {
  const { pool } = generated.warehouse;
  await pool.query(`drop table ${tables.map((table) => `finance.${table}`).join(', ')}`);
  await pool.query('drop view finance.connections');
  await pool.query(resources.map(resourceTables).join('') + freshnessView());
  await pool.query(resources.map(freshnessComments).join(''));
  await migrate(generated.warehouse);
});

describe('a generated table is as the released one:', () => {
  test.each(tables)('finance.%s', async (table) => {
    const described = await describeTable(generated, table);
    expect(described.columns.length).toBeGreaterThan(3);
    expect(described.triggers.length).toBe(1);
    expect(described).toEqual(await describeTable(released, table));
  });
});

test('the generated finance.connections is as the released one', async () => {
  const view = await describeView(generated);
  expect(view.freshness?.length).toBe(2 * resources.length);
  expect(view).toEqual(await describeView(released));
});

test.each(resources)('the migration of $name runs the generated statements', (resource) => {
  const migration = unindented(resourceMigration(resource));
  expect(migration).toContain(unindented(resourceTables(resource)));
  expect(migration).toContain(unindented(freshnessView() + freshnessComments(resource)));
});

function unindented(text: string): string {
  return text.replace(/^ +/gm, '');
}

interface Described {
  readonly table: Row[];
  readonly columns: Row[];
  readonly indexes: Row[];
  readonly constraints: Row[];
  readonly triggers: Row[];
  readonly policies: Row[];
}

/** The order of columns is left out: it is that of the releases that added them. */
async function describeTable({ warehouse }: { warehouse: Queried }, table: string): Promise<Described> {
  const of = (sql: string): Promise<Row[]> => rows(warehouse, sql, [`finance.${table}`]);
  return {
    table: await of(
      `select relrowsecurity, relforcerowsecurity, relpersistence, obj_description(oid) as comment,
         (select array_agg(one order by one) from unnest(reloptions) as one) as settings,
         (select array_agg(one::text order by one::text) from unnest(relacl) as one) as rights
       from pg_class where oid = $1::regclass`,
    ),
    columns: await of(
      `select attname, format_type(atttypid, atttypmod) as type, attnotnull, attcollation::regcollation as collation,
         attstorage, attcompression, attoptions, col_description(attrelid, attnum) as comment
       from pg_attribute where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attname`,
    ),
    indexes: await of(
      `select pg_get_indexdef(indexrelid) as index from pg_index where indrelid = $1::regclass order by 1`,
    ),
    constraints: await of(
      `select conname, pg_get_constraintdef(oid) as rule from pg_constraint where conrelid = $1::regclass order by 1`,
    ),
    triggers: await of(
      `select pg_get_triggerdef(oid) as trigger, tgenabled from pg_trigger where tgrelid = $1::regclass order by 1`,
    ),
    policies: await of(
      `select polname, polpermissive, polroles::regrole[]::text[] as roles, pg_get_expr(polqual, polrelid) as rows
       from pg_policy where polrelid = $1::regclass order by 1`,
    ),
  };
}

async function describeView({ warehouse }: { warehouse: Queried }): Promise<Record<string, Row[]>> {
  return {
    view: await rows(
      warehouse,
      `select pg_get_viewdef(oid) as definition, reloptions,
         (select array_agg(one::text order by one::text) from unnest(relacl) as one) as rights
       from pg_class where oid = 'finance.connections'::regclass`,
    ),
    freshness: await rows(
      warehouse,
      `select attname, col_description(attrelid, attnum) as comment from pg_attribute
       where attrelid = 'finance.connections'::regclass and attname ~ '_(last_success_at|freshness)$' order by attnum`,
    ),
  };
}

type Queried = typeof released.warehouse;
