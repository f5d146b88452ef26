import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { migrate } from '../../warehouse/schema/migrate.ts';
import { openWarehouse } from '../../warehouse/open-warehouse.ts';
import { queryAsReader } from '../../warehouse/query/query-as-reader.ts';
import { bill, list, billLine } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';

const [{ warehouse }, limited] = await Promise.all([
  createTestDatabase(),
  createTestDatabase('template template0'),
]);

describe('the reader role', () => {
  test('can read every table and view of finance, and history.as_of', async () => {
    const connectionId = await addTestConnection(warehouse);
    await land(warehouse, {
      connectionId,
      stream: 'bills',
      pages: [[bill('b', { line_items: list(billLine()) })]],
    });
    const relations = await rows(
      warehouse,
      `select table_name as name from information_schema.tables where table_schema = 'finance'`,
    );
    for (const { name } of relations) {
      expect(await queryAsReader(warehouse, `select count(*) from finance.${String(name)}`)).toBeDefined();
    }
    const known = `select record_id from history.as_of('bills', now()) where connection_id = '${connectionId}'`;
    expect(await queryAsReader(warehouse, known)).toEqual({ columns: ['record_id'], rows: [['b']] });
  });

  test('cannot read the tables of sync and history', async () => {
    const relations = await rows(
      warehouse,
      `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
       where table_schema in ('sync', 'history')`,
    );
    expect(relations.length).toBeGreaterThan(10);
    for (const { name } of relations) {
      const reading = queryAsReader(warehouse, `select from ${String(name)}`);
      await expect(reading, String(name)).rejects.toThrow(/permission denied/);
    }
  });

  test.each([
    ['write', 'delete from finance.bills', /read-only transaction|permission denied/],
    ['run a second statement', 'select 1; reset role', /cannot insert multiple commands/],
  ])('may not %s', async (_, statement, refusal) => {
    await expect(queryAsReader(warehouse, statement)).rejects.toThrow(refusal);
  });

  test('is reset after the statement, even if the statement fails', async () => {
    await queryAsReader(warehouse, 'select 1');
    await expect(queryAsReader(warehouse, 'select 1/0')).rejects.toThrow(/division by zero/);
    const users = Array.from({ length: 10 }, () => rows(warehouse, 'select current_user as name'));
    expect(new Set((await Promise.all(users)).flat().map(({ name }) => name))).toEqual(new Set(['daybook']));
  });

  test('cannot log in', async () => {
    expect(
      await rows(warehouse, `select rolcanlogin from pg_roles where rolname = 'daybook_reader'`),
    ).toEqual([{ rolcanlogin: false }]);
  });
});

test('digits, dates, and times are read as Postgres writes them', async () => {
  const statement = `select 1.10::numeric as amount, date '2024-01-31' as day, 9007199254740993::bigint as large,
    7::int as small, true as yes, null as nothing, timestamptz '2024-01-31T00:00:00Z' as moment`;
  expect(await queryAsReader(warehouse, statement)).toEqual({
    columns: ['amount', 'day', 'large', 'small', 'yes', 'nothing', 'moment'],
    rows: [['1.10', '2024-01-31', '9007199254740993', 7, true, null, '2024-01-31 00:00:00+00']],
  });
});

test('a migration that may not create the reader role returns its SQL, until that SQL was run', async () => {
  const owner = `owner_${randomBytes(4).toString('hex')}`;
  const admin = new pg.Client({ connectionString: limited.adminUrl });
  await admin.connect();
  onTestFinished(async () => {
    await admin.query(`reassign owned by ${owner} to daybook; drop owned by ${owner}; drop role ${owner}`);
    await admin.end();
  });
  const { password } = new URL(limited.url);
  await admin.query(`create role ${owner} login password '${password}'`);
  await admin.query(
    `do $$ begin execute format('alter database %I owner to ${owner}', current_database()); end $$`,
  );
  const ownerUrl = new URL(limited.url);
  ownerUrl.username = owner;
  const unprivileged = openWarehouse({ url: ownerUrl.href, connections: 2 });
  onTestFinished(() => unprivileged.close());

  const { readerSql } = await migrate(unprivileged);
  expect(readerSql).toContain('create role daybook_reader nologin');
  expect((await queryAsReader(unprivileged, 'select current_user::text')).rows).toEqual([[owner]]);
  await admin.query(readerSql ?? '');
  expect(await migrate(unprivileged)).toEqual({ applied: [], readerSql: null });
  expect((await queryAsReader(unprivileged, 'select current_user::text')).rows).toEqual([['daybook_reader']]);
});
