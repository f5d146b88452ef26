import { beforeAll, describe, expect, test } from 'vitest';
import { checkSchema, migrate } from '../../warehouse/schema/migrate.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { bill } from '../support/finance-records.ts';
import { createInstallation, type Installation } from '../support/installation.ts';
import { loadReleased, releasedVersions } from '../support/load-released.ts';
import { oldestAndNewest } from '../support/proof-test.ts';
import { row, rows, type Row } from '../support/rows.ts';
import { createTestDatabase } from '../support/test-database.ts';

const fresh = await createTestDatabase();
const databases = await Promise.all(
  oldestAndNewest(releasedVersions).map(async (version) => {
    const { warehouse, url } = await createTestDatabase('template template0');
    const installation = await createInstallation({ env: { DATABASE_URL: url } });
    return { version, warehouse, url, installation };
  }),
);

describe.each(databases)('a database of $version', ({ version, warehouse, url, installation }) => {
  let columns: Row[];
  let before: Record<string, unknown[]>;
  let views: Row[];

  beforeAll(async () => {
    await loadReleased({ version, url });
    columns = await columnsOf(warehouse);
    before = await contentOf(warehouse, columns);
    views = await rows(warehouse, viewsOfPeople);
    await migrate(warehouse);
    await checkSchema(warehouse);
  });

  test('upgrades to this release and keeps every value it held', async () => {
    expect(before['finance.bills']?.length).toBeGreaterThan(100);
    expect(before['history.record_versions']?.length).toBeGreaterThan(300);
    expect(await contentOf(warehouse, columns)).toEqual(before);
    expect(await rows(warehouse, viewsOfPeople)).toEqual(views);
  });

  test.each(Object.entries(catalogue))(
    'has the %s of a new database after the upgrade',
    async (_, statement) => {
      const found = await rows(warehouse, statement);
      expect(found.length).toBeGreaterThan(0);
      expect(found).toEqual(await rows(fresh.warehouse, statement));
    },
  );

  test('is synced again once its connections have new tokens, and an open sync continues', async () => {
    await moveTo(installation, warehouse);
    await installation.startWorker();
    const { bills } = await row(warehouse, billsOfAcme);
    await installation.admin.execute(
      { kind: 'add', connection: 'acme-us', resource: 'bills', record: bill('after-the-upgrade') },
      {
        kind: 'add-connection',
        name: 'wait1',
        platform: 'QUICKBOOKS',
        records: 20,
        accessToken: 'sandbox-token-wait1',
      },
    );
    for (const connection of ['acme-us', 'wait1']) {
      await installation.run(['connection', 'set-token', connection, '--token-stdin'], {
        input: `sandbox-token-${connection}`,
      });
      const { code, stderr } = await installation.run(['sync', connection]);
      expect([code, stderr]).toEqual([0, expect.anything()]);
    }
    expect(await row(warehouse, billsOfAcme)).toEqual({ bills: Number(bills) + 1 });
    expect(
      await rows(
        warehouse,
        `select status from sync.runs where connection_id = 'wait1' order by started_at, run_id`,
      ),
    ).toEqual([{ status: 'interrupted' }, { status: 'succeeded' }]);
    expect(await rows(warehouse, `select from sync.passes where connection_id = 'wait1'`)).toEqual([]);
  });
});

/** The users' own views; those that depend on marts are dropped with them. */
const viewsOfPeople = `
  select schemaname, viewname from pg_views
  where schemaname !~ '^(finance|history|sync|staging|intermediate|marts.*|pg_.*|information_schema)$'`;

const billsOfAcme = `select count(*) as bills from finance.bills where connection_id = 'acme-us'`;

/** Tables with their columns, without the migrations' own records. */
async function columnsOf(warehouse: Warehouse): Promise<Row[]> {
  return rows(
    warehouse,
    `select table_schema || '.' || table_name as "table", string_agg(quote_ident(column_name), ', ' order by ordinal_position) as columns
     from information_schema.columns join information_schema.tables using (table_schema, table_name)
     where table_schema in ('finance', 'history', 'sync') and table_type = 'BASE TABLE'
       and table_name not in ('migrations', 'migrations_lock')
     group by 1 order by 1`,
  );
}

/** Every row as text, limited to these columns. */
async function contentOf(warehouse: Warehouse, columns: readonly Row[]): Promise<Record<string, unknown[]>> {
  const content: Record<string, unknown[]> = {};
  for (const { table, columns: chosen } of columns) {
    const found = await rows(
      warehouse,
      `select t::text as row from (select ${String(chosen)} from ${String(table)}) t order by 1`,
    );
    content[String(table)] = found.map((one) => one.row);
  }
  return content;
}

const ours = `('finance'::regnamespace, 'history'::regnamespace, 'sync'::regnamespace)`;

/** Compares `not null` constraints without their names: Postgres 18 gives them names, which a dump of an older version lacks. */
const catalogue = {
  'tables, views and their comments': `
    select oid::regclass::text as name, relkind, relacl::text as grants, obj_description(oid, 'pg_class') as comment
    from pg_class where relnamespace in ${ours} order by 1`,
  'columns and their comments': `
    select attrelid::regclass::text as "table", attname as name, format_type(atttypid, atttypmod) as type,
      attnotnull, attidentity, attcollation::regcollation::text as collation,
      pg_get_expr(adbin, adrelid) as "default", col_description(attrelid, attnum) as comment
    from pg_attribute a
    join pg_class c on c.oid = attrelid
    left join pg_attrdef d on d.adrelid = attrelid and d.adnum = attnum
    where relnamespace in ${ours} and attnum > 0 and not attisdropped order by 1, attnum`,
  'constraints and keys': `
    select conrelid::regclass::text as "table", case when contype <> 'n' then conname end as name, pg_get_constraintdef(oid) as definition
    from pg_constraint where connamespace in ${ours} order by 1, 2, 3`,
  indexes: `select indexdef from pg_indexes where schemaname in ('finance', 'history', 'sync') order by 1`,
  'queries of the views': `
    select oid::regclass::text as view, pg_get_viewdef(oid) as query
    from pg_class where relnamespace in ${ours} and relkind = 'v' order by 1`,
  functions: `
    select pg_get_functiondef(oid) as definition, array(select unnest(coalesce(proacl, acldefault('f', proowner)))::text order by 1) as grants,
      obj_description(oid, 'pg_proc') as comment
    from pg_proc where pronamespace in ${ours} order by 1`,
};

/** Moves to another sandbox and another key, because both of the recorded ones are lost. */
async function moveTo({ sandbox }: Installation, { pool }: Warehouse): Promise<void> {
  await pool.query(`delete from sync.settings where name = 'secret_key_fingerprint'`);
  await pool.query('update sync.connections set api_address = $1', [sandbox.url]);
}
