import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile, mkdir } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pythonWithDbt } from '../../marts/python-environment.ts';
import { createTestLake } from '../lake/export-of.ts';
import { readParquet } from '../lake/read-parquet.ts';
import { createInstallation } from '../support/installation.ts';
import { row, rows, type Row } from '../support/rows.ts';
import { sync } from '../support/sync.ts';
import { doublesOf, martInPostgres, martNames, martOnLake, type MartRow } from './marts-of.ts';

const lakeFolder = await mkdtemp(join(tmpdir(), 'daybook-test-marts-'));
const installation = await createInstallation({ env: { DAYBOOK_LAKE: lakeFolder } });
const { warehouse, admin } = installation;
const lake = await createTestLake(installation.databaseUrl, { lake: lakeFolder });
const connections: string[] = [];
let snapshot: string;
afterAll(() => rm(lakeFolder, { recursive: true, force: true }));

beforeAll(async () => {
  await installation.startWorker();
  for (const platform of ['QUICKBOOKS', 'NETSUITE', 'STRIPE']) {
    const name = await installation.connect({ platform, records: 200 });
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
}, 600_000);

test('every mart of the product is there', async () => {
  const views = await rows(warehouse, `select viewname from pg_views where schemaname = 'marts' order by 1`);
  expect(views.map(({ viewname }) => viewname)).toEqual(marts);
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

test('totals computed from the source, the warehouse, the snapshot and the marts agree to the digit', async () => {
  const [company = ''] = connections;
  const source = await sourceTotals(company);
  expect(source.length).toBeGreaterThan(1);
  expect(
    await rows(
      warehouse,
      `select currency_code, count(*)::text as bills, trim_scale(sum(total_amount))::text as total, trim_scale(sum(amount_due))::text as due
       from finance.bills where connection_id = $1 group by 1 order by 1`,
      [company],
    ),
  ).toEqual(source);
  const fromMart = `select currency_code, count(*)::text as bills, trim_scale(sum(total_amount))::text as total, trim_scale(sum(amount_due))::text as due
    from marts.bills where connection_id = $1 group by 1 order by 1`;
  expect(await rows(warehouse, fromMart, [company])).toEqual(source);
  const inDuckDb = `select currency_code, count(*)::varchar as bills, sum(total_amount)::varchar as total, sum(amount_due)::varchar as due
    from '{lake}/bills/*.parquet' where connection_id = '${company}' group by 1 order by 1`;
  expect((await readParquet(snapshot, inDuckDb)).map(trimmed)).toEqual(source);
  expect((await inPython(inDuckDb.replaceAll('{lake}', snapshot))).map(trimmed)).toEqual(source);
  const onLake = inDuckDb.replace(
    '{lake}/bills/*.parquet',
    `{lake}/marts/${snapshot.split('/').at(-1) ?? ''}/bills/*.parquet`,
  );
  expect((await readParquet(lakeFolder, onLake)).map(trimmed)).toEqual(source);
});

test('spend is bills and expenses less refunds and credits of the source, to the digit', async () => {
  const [company = ''] = connections;
  const texts = async (resource: 'bills' | 'expenses' | 'bill_credit_memos'): Promise<string[]> =>
    admin.content(company, resource);
  const expected = await rows(
    warehouse,
    `with documents as (
       select d ->> 'currency_code' as currency_code, (d ->> 'total_amount')::numeric as amount
       from unnest($1::text[]) t (text), lateral (select text::jsonb as d) j
       where d ->> 'status' in ('open', 'partially_paid', 'paid')
       union all
       select d ->> 'currency_code', -(d ->> 'total_amount')::numeric
       from unnest($2::text[]) t (text), lateral (select text::jsonb as d) j
       where d ->> 'status' in ('open', 'partially_paid', 'paid')
       union all
       select d ->> 'currency_code', case d ->> 'expense_type' when 'refund' then -1 else 1 end * (l ->> 'total_amount')::numeric
       from unnest($3::text[]) t (text), lateral (select text::jsonb as d) j, jsonb_array_elements(d -> 'line_items') l
     )
     select currency_code, trim_scale(sum(amount))::text as spend from documents group by 1 order by 1`,
    [await texts('bills'), await texts('bill_credit_memos'), await texts('expenses')],
  );
  const found = `select currency_code, trim_scale(sum(gross_amount))::text as spend from marts.spend_lines
    where connection_id = $1 and posting_status = 'posted' group by 1 order by 1`;
  expect(await rows(warehouse, found, [company])).toEqual(expected);
});

test('every difference that a check looks for is explained: the books of the sandbox tie out', async () => {
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

async function sourceTotals(company: string): Promise<Row[]> {
  return rows(
    warehouse,
    `select d ->> 'currency_code' as currency_code, count(*)::text as bills,
       trim_scale(sum((d ->> 'total_amount')::numeric))::text as total,
       trim_scale(sum((d ->> 'amount_due')::numeric))::text as due
     from unnest($1::text[]) t (text), lateral (select text::jsonb as d) j group by 1 order by 1`,
    [await admin.content(company, 'bills')],
  );
}

async function inPython(query: string): Promise<MartRow[]> {
  const python = await pythonWithDbt({
    cacheFolder: join(homedir(), '.cache', 'daybook'),
    onStep: () => undefined,
  });
  const script = `import duckdb, json, sys
rows = duckdb.sql(sys.argv[1])
print(json.dumps([dict(zip(rows.columns, row)) for row in rows.fetchall()]))`;
  const { stdout } = await promisify(execFile)(python, ['-c', script, query]);
  return JSON.parse(stdout) as MartRow[];
}

function trimmed(one: MartRow): MartRow {
  return Object.fromEntries(
    Object.entries(one).map(([name, value]) => [
      name,
      value?.includes('.') === true ? value.replace(/\.?0+$/, '') : value,
    ]),
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
