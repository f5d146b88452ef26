import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

/** A login that was granted the role for readers, as the operations manual says. Its transactions are not read-only. */
const { warehouse, url, adminUrl } = await createTestDatabase();
const name = `analyst_${randomBytes(4).toString('hex')}`;
const admin = new pg.Client(adminUrl);
await admin.connect();
const login = new URL(url);
await admin.query(`create role ${name} login password ${pg.escapeLiteral(login.password)}`);
await admin.query(`grant daybook_reader to ${name}`);
login.username = name;
const analyst = new pg.Client(login.href);
await analyst.connect();
await land(warehouse, {
  connectionId: await addTestConnection(warehouse),
  stream: 'bills',
  pages: [[bill('b')]],
});
afterAll(async () => {
  await analyst.end();
  await admin.query(`drop role ${name}`);
  await admin.end();
});

const ours = `'finance', 'history', 'sync', 'marts', 'staging', 'intermediate'`;

test('an analyst reads finance and its state at a given time', async () => {
  const { rows: read } = await analyst.query(
    `select b.id from finance.bills b, history.as_of('bills', now()) h where h.record_id = b.id`,
  );
  expect(read).toEqual([{ id: 'b' }]);
});

test('an analyst may change no table, and may read none in sync or history', async () => {
  const { rows: allowed } = await analyst.query<{ name: string; may: string }>(
    `select format('%I.%I', nspname, relname) as name, may
     from pg_class c join pg_namespace n on n.oid = relnamespace,
       unnest(array['insert', 'update', 'delete', 'truncate', 'references', 'trigger', 'select']) as may
     where relkind in ('r', 'p', 'v', 'm') and nspname in (${ours}) and has_table_privilege(c.oid, may)`,
  );
  expect(allowed.length).toBeGreaterThan(5);
  for (const { name: table, may } of allowed)
    expect([table, may]).toEqual([expect.stringMatching(/^(finance|marts)\./), 'select']);
});

test('an analyst may create nothing in a schema or database, and has no role that may', async () => {
  const { rows: made } = await analyst.query<Record<string, boolean>>(
    `select bool_or(has_schema_privilege(nspname, 'create')) as schemas,
       has_database_privilege(current_database(), 'create') as database,
       (select bool_or(rolsuper or rolcreaterole or rolcreatedb or rolbypassrls) from pg_roles
        where pg_has_role(oid, 'member')) as roles
     from pg_namespace where nspname !~ '^pg_(temp|toast)'`,
  );
  expect(made).toEqual([{ schemas: false, database: false, roles: false }]);
});

test("an analyst may call only history.as_of and history.changed_since, whose names the caller's search path cannot redirect", async () => {
  const functions = await rows(
    warehouse,
    `select distinct format('%I.%I', nspname, proname) as name, prosqlbody is not null as bound
     from pg_proc join pg_namespace n on n.oid = pronamespace
     where nspname in (${ours}) and has_schema_privilege($1, n.oid, 'usage') and has_function_privilege($1, pg_proc.oid, 'execute')
     order by 1`,
    [name],
  );
  // Their bodies were bound at creation, so a caller's search path cannot redirect them.
  expect(functions).toEqual([
    { name: 'history.as_of', bound: true },
    { name: 'history.changed_since', bound: true },
  ]);
});

test.each([
  ['take the role of the owner', 'set role daybook'],
  ['run a program', `copy (select 1) to program 'true'`],
  ['write a file', `copy (select 1) to '/tmp/planted'`],
  ['read a file', `select pg_read_file('/etc/passwd')`],
  ['read settings that hold secrets', `select * from pg_authid`],
  [
    'end a session of Daybook',
    `select pg_terminate_backend(pid) from pg_stat_activity where usename = 'daybook'`,
  ],
  [
    'change what as_of answers',
    'create or replace function history.as_of(text, timestamptz) returns int language sql return 1',
  ],
])('an analyst cannot %s', async (_, statement) => {
  await expect(analyst.query(statement)).rejects.toThrow(/permission denied|must be/);
});

test("an analyst does not see the text of the owner's statements", async () => {
  const { rows: seen } = await analyst.query<{ query: string }>(
    `select query from pg_stat_activity where usename = 'daybook' and datname = current_database()`,
  );
  expect(seen.length).toBeGreaterThan(0);
  for (const { query } of seen) expect(query).toBe('<insufficient privilege>');
});
