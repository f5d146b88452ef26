import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { eventually } from '../embedded/eventually.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { startDaybook } from '../support/daybook-process.ts';
import { createInstallation } from '../support/installation.ts';
import { row, rows } from '../support/rows.ts';
import { sync } from '../support/sync.ts';

const installation = await createInstallation();
const { warehouse } = installation;
const seeds = join(installation.env.DAYBOOK_HOME ?? '', 'seeds');
let company: string;

beforeAll(async () => {
  await installation.startWorker();
  company = await installation.connect({ records: 100 });
  await sync(installation, company);
  await build();
}, 600_000);

test("a user's own view on a mart survives a build, and shows the new one", async () => {
  await warehouse.pool.query(
    `create schema mine; create view mine.totals as select count(*) as bills from marts.bills`,
  );
  const before = await shownSchema();
  await build();
  expect(await shownSchema()).not.toBe(before);
  expect(await row(warehouse, 'select bills from mine.totals')).toEqual(
    await row(warehouse, 'select count(*) as bills from finance.bills'),
  );
}, 300_000);

test('a connection of another API address does not enter the marts', async () => {
  const other = await addTestConnection(warehouse);
  await build();
  const shown = await rows(warehouse, 'select connection_id from marts.connections');
  expect(shown).toEqual([{ connection_id: company }]);
  expect(shown).not.toContainEqual({ connection_id: other });
}, 300_000);

test('a build whose tests fail exits with 1, names them, and leaves the last good marts', async () => {
  const before = await shownSchema();
  await mkdir(seeds, { recursive: true });
  const twice = `${company},some-vendor,A name\n`;
  await writeFile(join(seeds, 'vendor_names.csv'), `connection_id,vendor_id,vendor_name\n${twice}${twice}`);
  const failed = await installation.run(['dbt', 'build']);
  await rm(join(seeds, 'vendor_names.csv'));
  expect(failed.code).toBe(1);
  expect(failed.stderr).toContain('unique_together_vendor_names');
  expect(await shownSchema()).toBe(before);
  expect(await row(warehouse, 'select count(*) > 0 as there from marts.bills')).toEqual({ there: true });
}, 300_000);

test('kill -9 in the middle of dbt: readers see the last good marts, and the next build repairs', async () => {
  const before = await shownSchema();
  const building = startDaybook(['dbt', 'build'], { env: installation.env, cwd: installation.cwd });
  await until(async () => (await martsBuiltBeside(before)) > 3);
  await building.stop('SIGKILL');
  expect(await shownSchema()).toBe(before);
  expect(await row(warehouse, 'select count(*) > 0 as there from marts.bills')).toEqual({ there: true });
  await until(async () => (await dbtSessions()) === 0);
  await build();
  expect(await shownSchema()).not.toBe(before);
}, 300_000);

test('a second build at the same time is refused and disturbs nothing', async () => {
  const first = startDaybook(['dbt', 'build'], { env: installation.env, cwd: installation.cwd });
  await until(async () => (await dbtSessions()) > 0);
  const second = await installation.run(['dbt', 'build']);
  expect(second.code).toBe(1);
  expect(second.stderr).toContain('being built already');
  expect((await first.ended).code).toBe(0);
}, 300_000);

async function build(): Promise<void> {
  const built = await installation.run(['dbt', 'build']);
  expect(built.code, built.stderr).toBe(0);
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

async function dbtSessions(): Promise<number> {
  const { count } = await row(
    warehouse,
    `select count(*)::int as count from pg_stat_activity where application_name = 'daybook-dbt' and datname = current_database()`,
  );
  return Number(count);
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  await eventually(async () => ((await condition()) ? true : undefined));
}
