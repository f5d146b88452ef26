import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { addConnection } from '../../warehouse/connections/add-connection.ts';
import { withinFiveMinutes } from '../support/eventually.ts';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { loseLock } from '../support/lose-lock.ts';
import { proofTest } from '../support/proof-test.ts';
import { row, rows } from '../support/rows.ts';
import { addTestConnection, testKey } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { buildEnvironment } from './build-environment.ts';

const { warehouse, url } = await createTestDatabase();
const { home, build, startBuild } = await buildEnvironment({ databaseUrl: url, lake: 'none' });
let company: string;

beforeAll(async () => {
  company = await addTestConnection(warehouse);
  await land(warehouse, { connectionId: company, stream: 'bills', pages: [[bill('b')]] });
  await addConnection(warehouse, testKey, {
    connectionId: 'elsewhere',
    apiAddress: 'https://another.example.com',
    token: 'token',
    expandPlatformData: false,
  });
  const built = await build('postgres');
  expect(built.code, built.stderr).toBe(0);
  // Every line of dbt's output is parsed; none is passed on unchanged.
  expect(built.stderr).not.toContain('{');
});

test('a connection of another API address does not enter the marts', async () => {
  expect(await rows(warehouse, 'select connection_id from marts.connections')).toEqual([
    { connection_id: company },
  ]);
});

test.each([
  [
    'with an address that no connection was added under',
    'https://api.example.com/',
    2,
    'so they would be empty',
  ],
  ['without an address', '', 1, 'set DAYBOOK_API_URL'],
])('a build %s replaces nothing, and says what to set', async (_, address, code, sentence) => {
  const before = await shownSchema();
  const ended = await build('postgres', { DAYBOOK_API_URL: address });
  expect(ended.stderr).toContain(sentence);
  expect(ended.code).toBe(code);
  await expectShown(before, 1);
});

test('the staging and intermediate tables are gone once the marts are published', async () => {
  expect(
    await rows(
      warehouse,
      `select relname from pg_class where relnamespace in ('staging'::regnamespace, 'intermediate'::regnamespace)`,
    ),
  ).toEqual([]);
});

test('the marts have an index for a connection, a document, a vendor, a due date and a month', async () => {
  const indexed = await rows(
    warehouse,
    `select c.relname || ' ' || string_agg(a.attname, ',' order by k.place) as name
     from pg_index i
     join pg_class c on c.oid = i.indrelid
     join pg_views v on v.schemaname = 'marts' and v.viewname = c.relname
       and v.definition like '%' || c.relnamespace::regnamespace || '.%'
     cross join lateral unnest(i.indkey) with ordinality as k (attnum, place)
     join pg_attribute a on a.attrelid = c.oid and a.attnum = k.attnum
     group by i.indexrelid, c.relname`,
  );
  const names = indexed.map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining([
      'bills connection_id,bill_id',
      'bills connection_id,vendor_id',
      'bills due_date',
      'ap_open_items due_date',
      'spend_lines spend_month',
      'vendor_spend_monthly connection_id,spend_month',
    ]),
  );
  const small = ['connections', 'dates', 'sync_health'];
  const marts = await rows(warehouse, `select viewname from pg_views where schemaname = 'marts'`);
  for (const { viewname } of marts)
    if (!small.includes(String(viewname)))
      expect(names.some((name) => String(name).startsWith(`${String(viewname)} connection_id,`))).toBe(true);
});

test('every permanent table of the marts has a replica identity, so that it can be in a publication', async () => {
  const { published, silent } = await row(
    warehouse,
    `select count(*)::int as published,
       count(*) filter (where relreplident = 'd' and not exists (
         select from pg_constraint where conrelid = c.oid and contype = 'p'
       ))::int as silent
     from pg_class c join pg_namespace n on n.oid = relnamespace
     where relkind = 'r' and relpersistence = 'p'
       and nspname in ('staging', 'intermediate', 'marts', 'marts_a', 'marts_b')`,
  );
  expect(published).toBeGreaterThan(20);
  expect(silent).toBe(0);
});

test('a build whose tests fail exits with 1, names them, and leaves the last good marts', async () => {
  const before = await shownSchema();
  const twice = `${company},some-vendor,A name\n`;
  const seed = join(home, 'seeds', 'vendor_names.csv');
  await writeFile(seed, `connection_id,vendor_id,vendor_name\n${twice}${twice}`);
  const failed = await build('postgres');
  await rm(seed);
  expect(failed.code).toBe(1);
  expect(failed.stderr).toContain('unique_together_vendor_names');
  await expectShown(before, 1);
});

test('the queries of a killed build end with it, even while they wait for a lock', async () => {
  const other = await warehouse.pool.connect();
  try {
    await other.query('begin; lock table finance.bills in access exclusive mode');
    const killed = startBuild('postgres');
    await withinFiveMinutes(async () =>
      (await dbtSessions(`wait_event_type = 'Lock'`)) > 0 ? true : undefined,
    );
    await killed.stop('SIGKILL');
    await withinFiveMinutes(async () => ((await dbtSessions()) === 0 ? true : undefined));
  } finally {
    await other.query('rollback');
    other.release();
  }
});

proofTest(
  "kill -9 in the middle of dbt: readers see the last good marts; the next build refuses a second beside it, and a user's own view shows what it made",
  async () => {
    const before = await shownSchema();
    await warehouse.pool.query(
      `create schema mine; create view mine.totals as select count(*) as bills from marts.bills`,
    );
    await land(warehouse, { connectionId: company, stream: 'bills', pages: [[bill('b'), bill('c')]] });
    const killed = startBuild('postgres');
    await withinFiveMinutes(async () => ((await martsBuiltBeside(before)) > 3 ? true : undefined));
    await killed.stop('SIGKILL');
    await expectShown(before, 1);
    await withinFiveMinutes(async () => ((await dbtSessions()) === 0 ? true : undefined));

    const first = startBuild('postgres');
    await withinFiveMinutes(async () => ((await dbtSessions()) > 0 ? true : undefined));
    const second = await build('postgres');
    expect(second.code).toBe(1);
    expect(second.stderr).toContain('being built already');
    expect((await first.ended).code).toBe(0);
    expect(await shownSchema()).not.toBe(before);
    await expectShown(await shownSchema(), 2);
    expect(await row(warehouse, 'select bills::int from mine.totals')).toEqual({ bills: 2 });
  },
);

proofTest('a build whose lock is lost in the middle writes nothing more, and shows nothing', async () => {
  const shown = await shownSchema();
  const losing = startBuild('postgres');
  // The schema was emptied.
  await losing.waitForOutput(/marts are being built on Postgres/);
  await withinFiveMinutes(async () => ((await martsBuiltBeside(shown)) > 0 ? true : undefined));
  await loseLock(warehouse);
  const { code, stderr } = await losing.ended;
  expect(code).toBe(1);
  expect(stderr).toContain('This build has lost its lock');
  expect(await martsBuiltBeside(shown)).toBeLessThan(20);
  expect(await shownSchema()).toBe(shown);
});

async function expectShown(schema: string, bills: number): Promise<void> {
  expect(await shownSchema()).toBe(schema);
  expect(await row(warehouse, 'select count(*)::int as bills from marts.bills')).toEqual({ bills });
}

async function shownSchema(): Promise<string> {
  const { definition } = await row(
    warehouse,
    `select definition from pg_views where schemaname = 'marts' and viewname = 'bills'`,
  );
  return /from (marts_[ab])\./i.exec(String(definition))?.[1] ?? 'none';
}

async function martsBuiltBeside(shown: string): Promise<number> {
  const next = shown === 'marts_a' ? 'marts_b' : 'marts_a';
  const { count } = await row(
    warehouse,
    `select count(*)::int as count from pg_tables where schemaname = $1`,
    [next],
  );
  return Number(count);
}

async function dbtSessions(which = 'true'): Promise<number> {
  const { count } = await row(
    warehouse,
    `select count(*)::int as count from pg_stat_activity
     where application_name = 'daybook-dbt' and datname = current_database() and state <> 'idle' and ${which}`,
  );
  return Number(count);
}
