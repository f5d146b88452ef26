import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { migrate } from '../../warehouse/schema/migrate.ts';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import { queryAsReader } from '../../warehouse/query/query-as-reader.ts';
import { readersState } from '../../warehouse/readers/readers-state.ts';
import { bill } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

/** An owner who may not create roles, and who is not a member of `daybook_reader`. */
const { url, adminUrl } = await createTestDatabase('template template0');
const owner = `owner_${randomBytes(4).toString('hex')}`;
const admin = new pg.Client(adminUrl);
await admin.connect();
await admin.query(
  `create role ${owner} login password 'owns'; alter database ${admin.database ?? ''} owner to ${owner}`,
);
const ownerUrl = new URL(url);
ownerUrl.username = owner;
ownerUrl.password = 'owns';
const warehouse = openWarehouse({ url: ownerUrl.href, connections: 5 });
const { readerSql } = await migrate(warehouse);
const connectionId = await addTestConnection(warehouse);
await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('b')]] });
afterAll(async () => {
  await warehouse.close();
  await admin.query(`reassign owned by ${owner} to daybook; drop owned by ${owner}; drop role ${owner}`);
  await admin.end();
});

test('queries run as the owner, and the caller is told', async () => {
  let warnings = 0;
  const onOwner = (): void => {
    warnings += 1;
  };
  expect(await queryAsReader(warehouse, 'select id from finance.bills', { onOwner })).toEqual({
    columns: ['id'],
    rows: [['b']],
  });
  expect(warnings).toBe(1);
});

test.each([
  ['a table', 'select id from finance.bills;', [['b']]],
  ['a view that reads sync', 'select count(*) from finance.connections', [[1]]],
  ['another', 'select count(*) from finance.deleted_records', [[0]]],
  ['history', `select record_id from history.as_of('bills', now())`, [['b']]],
  ['with', 'with b as (select * from finance.bills) select id from b -- all', [['b']]],
  ['values', 'values (1), (2)', [[1], [2]]],
  ['a setting', 'show transaction_read_only', [['on']]],
])('a query run as the owner reads %s', async (_, statement, expected) => {
  expect((await queryAsReader(warehouse, statement)).rows).toEqual(expected);
});

test.each([
  ['select token_sealed from sync.connections', /permission denied for schema sync/],
  ['explain select from sync.settings', /permission denied for schema sync/],
  [
    `select query_to_xml('select * from sync.settings', true, false, '')`,
    /permission denied for schema sync/,
  ],
  [`select table_to_xml('sync.settings', true, false, '')`, /permission denied for schema sync/],
  ['commit', /syntax error/],
  ['commit; select 1', /syntax error/],
  ['select 1; commit', /cannot insert multiple commands/],
  [`commit; insert into sync.settings values ('a', 'b')`, /syntax error/],
  ['set transaction read write', /syntax error/],
  ['set role none', /syntax error/],
  [`do $$ begin delete from finance.bills; end $$`, /syntax error/],
  ['delete from finance.bills', /syntax error/],
  ['with d as (delete from finance.bills returning 1) select * from d', /must not contain data-modifying/],
  ['explain analyze delete from finance.bills', /read-only transaction/],
  ['select * into stolen from finance.bills', /INTO|syntax error/],
  ['create table stolen as select 1', /syntax error/],
  [`grant usage on schema sync to public`, /syntax error/],
  [
    `select set_config('transaction_read_only', 'off', false)`,
    /read-write mode must be set before any query/,
  ],
  [`select lo_import('/etc/passwd')`, /permission denied/],
  [
    `select query_to_xml('delete from finance.bills', true, false, '')`,
    /not allowed in a non-volatile|read-only/,
  ],
])('a query run as the owner refuses %s', async (statement, refusal) => {
  await expect(queryAsReader(warehouse, statement)).rejects.toThrow(refusal);
});

test('queries leave the owner its rights, also in other sessions meanwhile, and no advisory lock', async () => {
  const slow = queryAsReader(warehouse, 'select pg_sleep(2)');
  const another = queryAsReader(warehouse, 'select 1');
  await land(warehouse, { connectionId, stream: 'bills', pages: [[bill('meanwhile')]] });
  await Promise.all([slow, another]);
  await queryAsReader(warehouse, 'select pg_advisory_lock(1)');
  const { rows } = await warehouse.pool.query(
    `select has_schema_privilege('sync', 'usage') as may, (select count(*) from finance.bills) as bills,
       (select count(*) from pg_locks where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())) as locks`,
  );
  expect(rows).toEqual([{ may: true, bills: 2, locks: 0 }]);
});

test("doctor's state has the SQL for an administrator, and queries run as the reader role once it was run", async () => {
  const state = await readersState(warehouse);
  expect(state).toMatchObject({
    hasRole: false,
    toRun: `grant daybook_reader to ${owner};`,
  });
  expect(readerSql).toContain(`grant daybook_reader to ${owner}`);
  await admin.query(state.toRun);
  expect(await migrate(warehouse)).toEqual({ applied: [], readerSql: null });
  expect(await readersState(warehouse)).toMatchObject({ hasRole: true, toRun: '' });
  expect((await queryAsReader(warehouse, 'select current_user::text')).rows).toEqual([['daybook_reader']]);
});
