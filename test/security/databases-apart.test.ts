import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { migrate } from '../../warehouse/schema/migrate.ts';
import { query } from '../embedded/query.ts';
import { createTestDatabase } from '../support/test-database.ts';

/** Warehouses on one server, and a reader of the first. */
const [mine, theirs, third] = await Promise.all([
  createTestDatabase(),
  createTestDatabase(),
  createTestDatabase(),
]);
const name = `analyst_${randomBytes(4).toString('hex')}`;
const other = `${name}_of_marts`;
const admin = new pg.Client(mine.adminUrl);
await admin.connect();
await admin.query(`create role ${name} login password 'reads'; grant daybook_reader to ${name}`);
await admin.query(`create role ${other} login password 'reads'`);
await theirs.warehouse.pool.query(`grant usage on schema marts to ${other}`);
await mine.warehouse.pool.query(`grant connect on database ${databaseName(mine.url)} to ${name}`);
await Promise.all([migrate(mine.warehouse), migrate(theirs.warehouse)]);
afterAll(async () => {
  await theirs.warehouse.pool.query(`revoke usage on schema marts from ${other}`);
  for (const { url, warehouse } of [mine, theirs])
    await warehouse.pool.query(`revoke connect on database ${databaseName(url)} from ${name}, ${other}`);
  await admin.query(`drop role ${name}; drop role ${other}`);
  await admin.end();
});

test("a reader of one database cannot connect to another warehouse's database", async () => {
  expect(await query(loginTo(mine.url, name), 'select count(*) from finance.bills')).toEqual([
    { count: '0' },
  ]);
  await expect(query(loginTo(theirs.url, name), 'select')).rejects.toThrow(/permission denied for database/);
});

test('a login with a grant in a database can still connect to it', async () => {
  expect(await query(loginTo(theirs.url, other), 'select 1 as n')).toEqual([{ n: 1 }]);
  await expect(query(loginTo(mine.url, other), 'select')).rejects.toThrow(/permission denied for database/);
});

test('a reader cannot create temporary tables', async () => {
  const making = query(loginTo(mine.url, name), 'create temporary table mine (content text)');
  await expect(making).rejects.toThrow(/permission denied to create temporary tables/);
});

test('a reader cannot create tables in schema public of a database from before Postgres 15', async () => {
  const server = new pg.Client(mine.adminUrl);
  await server.connect();
  await server.query('grant create on schema public to public');
  expect(await migrate(mine.warehouse)).toMatchObject({ readerSql: null });
  await server.end();
  await expect(query(loginTo(mine.url, name), 'create table public.mine ()')).rejects.toThrow(
    /permission denied/,
  );
});

test('migrate returns the SQL for an administrator if Daybook does not own the database, and none once it has run', async () => {
  await admin.query(`alter database ${databaseName(mine.url)} owner to postgres`);
  await admin.query(`grant connect, temporary on database ${databaseName(mine.url)} to public`);
  await admin.query(`grant connect, create on database ${databaseName(mine.url)} to daybook`);
  const { readerSql } = await migrate(mine.warehouse);
  expect(readerSql).toContain(`revoke connect on database ${databaseName(mine.url)} from public;`);
  expect(readerSql).not.toContain('create role');
  await admin.query(readerSql ?? '');
  expect(await migrate(mine.warehouse)).toMatchObject({ readerSql: null });
  await admin.query(`alter database ${databaseName(mine.url)} owner to daybook`);
});

test('a function that a login plants in schema public never runs as the owner', async () => {
  const { warehouse, url, adminUrl } = third;
  const server = new pg.Client(adminUrl);
  await server.connect();
  await server.query(`alter schema public owner to postgres; grant create, usage on schema public to public`);
  onTestFinished(async () => {
    await server.query(`drop owned by ${name}`);
    await server.end();
  });
  for (const [signature, result] of planted)
    await query(
      loginTo(url, name),
      `create function public.${signature} returns ${result} language plpgsql as
       $$ begin raise exception 'ran as %', current_user; end $$`,
    );
  // The sessions of this pool began before the role had the setting.
  for (const round of [1, 2]) {
    const { readerSql } = await migrate(warehouse);
    expect(readerSql, `round ${round}`).toContain('revoke create on schema public from public;');
  }
  expect(await query(url, 'show search_path')).toEqual([{ search_path: 'pg_catalog' }]);
  expect(await query(url, `select format('%s', current_user) as text`)).toEqual([{ text: 'daybook' }]);
});

/**
 * Functions that the owner's statements call with other types than Postgres declares: an exact match in any schema of the search path takes
 * precedence.
 */
const planted = [
  ['hashtextextended(text, integer)', 'bigint'],
  ['format(text, name)', 'text'],
] as const;

function databaseName(url: string): string {
  return new URL(url).pathname.slice(1);
}

function loginTo(url: string, user: string): string {
  const login = new URL(url);
  login.username = user;
  login.password = 'reads';
  return login.href;
}
