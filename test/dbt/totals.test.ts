import { mkdtemp, rm, writeFile, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createTestLake } from '../lake/create-test-lake.ts';
import { readParquet } from '../lake/read-parquet.ts';
import { createInstallation } from '../support/installation.ts';
import { row, rows } from '../support/rows.ts';
import { sync } from '../support/sync.ts';
import { doublesOf, martInPostgres, martNames, martOnLake, type MartRow } from './marts-of.ts';
import { comparable, totalsOfMarts, totalsOfTables } from './totals-by-sql.ts';
import { totalsInPython } from './totals-in-python.ts';
import { totalsOfSource } from './totals-of-source.ts';

const lakeFolder = await mkdtemp(join(tmpdir(), 'daybook-test-marts-'));
const installation = await createInstallation({ env: { DAYBOOK_LAKE: lakeFolder } });
const { warehouse, admin } = installation;
const lake = await createTestLake(installation.databaseUrl, { lake: lakeFolder });
const connections: string[] = [];
let snapshot: string;
afterAll(() => rm(lakeFolder, { recursive: true, force: true }));

beforeAll(async () => {
  await installation.startWorker();
  for (const [name, platform, records] of [
    // The first company's books have every currency of the sandbox.
    ['books-1', 'QUICKBOOKS', 2_000],
    ['books-2', 'NETSUITE', 200],
    ['books-3', 'STRIPE', 200],
  ] as const) {
    await installation.connect({ name, platform, records });
    await sync(installation, name);
    connections.push(name);
  }
  const seeds = join(installation.env.DAYBOOK_HOME ?? '', 'seeds');
  await mkdir(seeds, { recursive: true });
  const [us = '', eu = ''] = connections;
  await writeFile(
    join(seeds, 'connection_settings.csv'),
    `connection_id,base_currency,fx_direction\n${us},USD,\n${eu},EUR,multiply\n`,
  );
  const { folder } = await lake.exportNow().then((exported) => ({
    folder: join(lakeFolder, 'snapshots', exported.snapshotId),
  }));
  snapshot = folder;
  for (const target of ['postgres', 'lake']) {
    const built = await installation.run(['dbt', 'build', '--target', target, '--json']);
    expect(built.code, built.stderr).toBe(0);
    expect(JSON.parse(built.stdout)).toMatchObject({ target, marts: (await martNames()).sort() });
  }
});

test('the marts schema contains every mart of the product', async () => {
  const views = await rows(warehouse, `select viewname from pg_views where schemaname = 'marts' order by 1`);
  expect(views.map(({ viewname }) => viewname)).toEqual(marts);
});

test('autovacuum is off for every table of the marts', async () => {
  const tables = await rows(
    warehouse,
    `select relname as mart, reloptions as options
     from pg_class where relkind = 'r' and relnamespace = to_regnamespace('marts_a') order by relname`,
  );
  expect(tables.map(({ mart }) => mart)).toEqual(expect.arrayContaining(marts));
  for (const { options } of tables) expect(options).toContain('autovacuum_enabled=false');
});

test.each(await martNames())('marts.%s is the same in Postgres and on the lake', async (mart) => {
  const doubles = await doublesOf(warehouse, mart);
  const postgres = sorted(await martInPostgres(warehouse, mart), doubles);
  const onLake = sorted(await martOnLake(lakeFolder, mart), doubles);
  expect(onLake.map((one) => without(one, doubles))).toEqual(postgres.map((one) => without(one, doubles)));
  for (const [index, one] of postgres.entries()) {
    for (const name of doubles)
      expect(isClose(one[name], onLake[index]?.[name]), `${mart}.${name}`).toBe(true);
  }
});

test('totals are the same in the source, finance, the snapshot (DuckDB and Python), and the marts on both targets', async () => {
  const [company = ''] = connections;
  const source = comparable(await totalsOfSource(admin, company));
  expect(Object.keys(source)).toEqual(expect.arrayContaining(measuresThatMustBeThere));
  const inFinance = totalsOfTables(company, (table) => `finance.${table}`, 'text');
  expect(comparable((await rows(warehouse, inFinance)) as MartRow[])).toEqual(source);
  const inSnapshot = totalsOfTables(company, (table) => `'{lake}/${table}/*.parquet'`, 'varchar');
  expect(comparable(await readParquet(snapshot, inSnapshot))).toEqual(source);
  expect(comparable(await totalsInPython(snapshot, company))).toEqual(source);
  const inMarts = totalsOfMarts(company, (mart) => `marts.${mart}`, 'text');
  expect(comparable((await rows(warehouse, inMarts)) as MartRow[])).toEqual(source);
  const martsFolder = join(lakeFolder, 'marts', basename(snapshot));
  const onLake = totalsOfMarts(company, (mart) => `'{lake}/${mart}/*.parquet'`, 'varchar');
  expect(comparable(await readParquet(martsFolder, onLake))).toEqual(source);
});

test('the data quality checks find no unexplained difference in the books of the sandbox', async () => {
  const odd = await rows(
    warehouse,
    `select distinct check_name from marts.data_quality where failed_rows > 0 and check_name in
     ('amount_due_unexplained', 'bill_status_incoherent', 'lines_differ_from_header', 'credit_remaining_unexplained', 'amount_does_not_fit')`,
  );
  expect(odd).toEqual([]);
});

test('readers see the marts', async () => {
  const seen = await installation.run(['sql', 'select count(*) from marts.bills', '--json']);
  expect(JSON.parse(seen.stdout)).toEqual([await row(warehouse, 'select count(*) from finance.bills')]);
});

test('every mart and column in Postgres has a SQL comment', async () => {
  const bare = await rows(
    warehouse,
    `select v.relname, c.attname
     from pg_class v join pg_attribute c on c.attrelid = v.oid and c.attnum > 0
     where v.relnamespace = 'marts'::regnamespace
       and (col_description(v.oid, c.attnum) is null or obj_description(v.oid, 'pg_class') is null)`,
  );
  expect(bare).toEqual([]);
});

describe('after an export', () => {
  test('Postgres gets a copy of the marts on the lake: the same tables that dbt builds there, with the same rows', async () => {
    const built = await tablesIn('marts_a');
    expect(built).toHaveLength(marts.length);
    await exportAndBuild();
    expect(await row(warehouse, `select outcome from sync.runs where target = 'postgres' ${newest}`)).toEqual(
      {
        outcome: expect.stringMatching(
          /^Copied 24 marts from those on snapshot \S+ as of [-\d]+, [\d.]+ s\.$/,
        ) as string,
      },
    );
    expect(await tablesIn('marts_b')).toEqual(built);
    for (const mart of marts) {
      const doubles = await doublesOf(warehouse, mart);
      const [copied, onLake] = [
        await martInPostgres(warehouse, mart),
        await martOnLake(lakeFolder, mart),
      ].map((all) => sorted(all, doubles));
      expect(copied?.map((one) => without(one, doubles))).toEqual(
        onLake?.map((one) => without(one, doubles)),
      );
      for (const [index, one] of (copied ?? []).entries())
        for (const name of doubles)
          expect(Number(one[name]), `${mart}.${name}`).toBe(Number(onLake?.[index]?.[name]));
    }
  });

  test('Postgres builds its own marts where it shows newer ones than those of the snapshot', async () => {
    await warehouse.pool.query(
      `update sync.marts set begun_at = begun_at + interval '1 hour' where target = 'postgres'`,
    );
    await exportAndBuild();
    expect(await row(warehouse, `select outcome from sync.runs where target = 'postgres' ${newest}`)).toEqual(
      {
        outcome: expect.stringMatching(/^Built 24 marts in Postgres as of /) as string,
      },
    );
  });

  async function exportAndBuild(): Promise<void> {
    const { code, stderr } = await installation.run(['export', '--force', '--wait']);
    expect(code, stderr).toBe(0);
  }

  const newest = 'order by started_at desc limit 1';
});

/** The tables of a schema: all that readers and replicas of them can see, rows aside. */
async function tablesIn(schema: string): Promise<unknown[]> {
  return rows(
    warehouse,
    `select relname as name, obj_description(c.oid, 'pg_class') as comment, reloptions as options, relreplident as identity,
       relpersistence as persistence, reltuples >= 0 as is_analyzed,
       array(
         select row(attname, format_type(atttypid, atttypmod), attnotnull, col_description(c.oid, attnum))::text
         from pg_attribute where attrelid = c.oid and attnum > 0 order by attnum
       ) as columns,
       array(
         select regexp_replace(pg_get_indexdef(indexrelid), 'INDEX [^ ]+ ON [^ ]+[.]', '') from pg_index where indrelid = c.oid order by 1
       ) as indexes
     from pg_class c where relkind = 'r' and relnamespace = to_regnamespace($1) order by relname`,
    [schema],
  );
}

function without(one: MartRow, names: Set<string>): MartRow {
  return Object.fromEntries(Object.entries(one).filter(([name]) => !names.has(name)));
}

function sorted(all: MartRow[], doubles: Set<string>): MartRow[] {
  return all
    .map((one) => ({ one, key: JSON.stringify(without(one, doubles)) }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ one }) => one);
}

function isClose(a: string | null | undefined, b: string | null | undefined): boolean {
  if (a === b) return true;
  const [x, y] = [Number(a ?? NaN), Number(b ?? NaN)];
  return Math.abs(x - y) <= 1e-9 * Math.max(Math.abs(x), Math.abs(y));
}

/** Measures in the home currency and in currencies with other minor units. */
const measuresThatMustBeThere = [
  ...[
    'open bills USD',
    'open credits USD',
    'spend USD',
    'spend JPY',
    'spend KWD',
    'credits USD',
    'expenses USD',
  ],
  ...['bill lines USD', 'expense lines USD', 'mrr USD', 'mrr JPY', 'mrr KWD'],
];

const marts = [
  ...['accounts', 'allocations', 'ap_ageing', 'ap_kpis_monthly', 'ap_open_items', 'bill_lines', 'bills'],
  ...[
    'cash_requirements',
    'connections',
    'customers',
    'data_quality',
    'dates',
    'duplicate_bills',
    'expense_lines',
  ],
  ...['expenses', 'items', 'mrr_movements_monthly', 'spend_by_dimension_monthly', 'spend_lines'],
  ...['subscription_mrr_monthly', 'sync_health', 'vendor_credits', 'vendor_spend_monthly', 'vendors'],
];
