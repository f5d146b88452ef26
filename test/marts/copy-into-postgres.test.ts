import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, expect, test } from 'vitest';
import { copyIntoPostgres } from '../../marts/copy-into-postgres.ts';
import { withBuildLock } from '../../warehouse/marts/build-lock.ts';
import { findCopyableRows } from '../../warehouse/marts/copyable-rows.ts';
import { row, rows } from '../support/rows.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { warehouse, url: databaseUrl } = await createTestDatabase();
const folder = await mkdtemp(join(tmpdir(), 'daybook-test-copy-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

const columns = `name varchar not null, text varchar, amount decimal(38, 9), rate decimal(38, 12), ratio double, rows bigint,
  is_today boolean, day date, seen_at timestamptz`;

test('every value of a mart is copied as it is, and its type, comments, indexes and required columns with it', async () => {
  await copy(`
    insert into marts.bills values
      ('all', 'text', 12345678901234567890123456789.123456789, -0.000000000001, 0.1, 9223372036854775807, true,
        '1999-12-31', '2026-11-21 10:11:12.123456+00'),
      ('none', null, null, null, null, null, null, null, null),
      ('small', '', 0, 0, 1e-300, 0, false, '0001-01-01', '1970-01-01 00:00:00+00')`);
  expect(await rows(warehouse, `select ${asTexts} from marts.bills order by name`)).toEqual([
    {
      name: 'all',
      text: 'text',
      amount: '12345678901234567890123456789.123456789',
      rate: '-0.000000000001',
      ratio: '0.1',
      rows: '9223372036854775807',
      is_today: 'true',
      day: '1999-12-31',
      seen_at: '2026-11-21 10:11:12.123456+00',
    },
    {
      ...{ name: 'none', text: null, amount: null, rate: null, ratio: null, rows: null },
      ...{ is_today: null, day: null, seen_at: null },
    },
    {
      ...{
        name: 'small',
        text: '',
        amount: '0.000000000',
        rate: '0.000000000000',
        ratio: '1e-300',
        rows: '0',
      },
      ...{ is_today: 'false', day: '0001-01-01', seen_at: '1970-01-01 00:00:00+00' },
    },
  ]);
  expect(
    await rows(
      warehouse,
      `select attname as name, format_type(atttypid, atttypmod) as type, attnotnull as required, col_description(attrelid, attnum) as comment
       from pg_attribute where attrelid = $1::regclass and attnum in (1, 3)`,
      [`${await shownSchema()}.bills`],
    ),
  ).toEqual([
    { name: 'name', type: 'text', required: true, comment: "The document's name" },
    { name: 'amount', type: 'numeric(38,9)', required: false, comment: 'amount \\' },
  ]);
  expect(
    await rows(
      warehouse,
      `select pg_get_indexdef(indexrelid) as index from pg_index where indrelid = $1::regclass`,
      [`${await shownSchema()}.bills`],
    ),
  ).toEqual([{ index: expect.stringMatching(/ON marts_\w\.bills USING btree \(name, day\)$/) as string }]);
});

test.each([
  String.raw`\.`,
  String.raw`\N`,
  String.raw`\\t`,
  '\\',
  'a\n\\.\nb',
  'a\tb\r\nc\rd',
  `"it's", she said`,
  '\u000b\u0001\u007f',
  'ａé🧾\ufffd\u2028',
  ' '.repeat(3),
  'x'.repeat(300_000),
])('a text is copied whatever is in it: %#', async (text) => {
  await copy(
    `insert into marts.bills (name, text) values ('one', ${literal(text)}), ('two', ${literal(text)})`,
  );
  const [one, two] = await rows(warehouse, 'select name, text from marts.bills order by name');
  expect([one, two]).toEqual([
    { name: 'one', text },
    { name: 'two', text },
  ]);
});

test('a copy that fails on either side leaves readers the marts that they see, and says why', async () => {
  await copy(`insert into marts.bills (name) values ('before')`);
  const shown = await shownSchema();
  await expect(
    copy(`insert into marts.bills (name) values ('no text of Postgres' || chr(0))`),
  ).rejects.toThrow(/0x00/);
  await expect(
    copy(`alter table marts.bills add column odd integer[]; comment on column marts.bills.odd is 'odd'`),
  ).rejects.toThrow("No mart has a column of DuckDB's type INTEGER[].");
  expect(await rows(warehouse, 'select name from marts.bills')).toEqual([{ name: 'before' }]);
  expect(await shownSchema()).toBe(shown);
});

test('a copy ends when it is told to', async () => {
  const ending = new AbortController();
  ending.abort(new Error('The worker stops.'));
  await expect(copy(`insert into marts.bills (name) values ('late')`, ending.signal)).rejects.toThrow(
    'The worker stops.',
  );
});

test('Postgres shows marts of a snapshot that this warehouse has published as it is, and of no older rows than it shows', async () => {
  const known = { snapshotId: '20261121T101112Z-aaaaaa', manifestSha256: 'a'.repeat(64) };
  const { now } = await row(
    warehouse,
    `insert into sync.snapshots (snapshot_id, run_id, lake, taken_at, rows, bytes, unfit, mark, manifest_sha256)
     values ($1, 'run', '/lake', clock_timestamp(), 0, 0, 0, '', $2)
     returning to_char(taken_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now`,
    [known.snapshotId, known.manifestSha256],
  );
  const set = (statement: string): Promise<unknown> => warehouse.pool.query(statement);
  expect(await findCopyableRows(warehouse, known)).toEqual({ takenAt: now });
  const others = [
    { ...known, manifestSha256: 'b'.repeat(64) },
    { ...known, snapshotId: '20261121T101112Z-bbbbbb' },
  ];
  for (const other of others)
    expect(await findCopyableRows(warehouse, other)).toEqual({
      failure: `This warehouse did not publish snapshot ${other.snapshotId} as it is.`,
    });
  await set(
    `insert into sync.marts (target, run_id, as_of_date, marts, begun_at)
     select 'postgres', 'built', '2026-01-01', 24, taken_at from sync.snapshots`,
  );
  expect(await findCopyableRows(warehouse, known)).toEqual({ takenAt: now });
  await set(`update sync.marts set begun_at = begun_at + interval '1 microsecond'`);
  const older = {
    failure: `Postgres has marts of newer rows than those of snapshot ${known.snapshotId}.`,
  };
  expect(await findCopyableRows(warehouse, known)).toEqual(older);
  await set(`delete from sync.marts; update sync.snapshots set taken_at = taken_at + interval '1 hour'`);
  expect(await findCopyableRows(warehouse, known)).toEqual(older);
  await set(`update sync.snapshots set taken_at = taken_at - interval '1 hour', removed_at = now()`);
  expect(await findCopyableRows(warehouse, known)).toHaveProperty('failure');
});

const asTexts = ['name', 'text', 'amount', 'rate', 'ratio', 'rows', 'is_today', 'day', 'seen_at']
  .map((name) => `${name}::text`)
  .join(', ');

/** Copies the mart `bills`, filled by `statements`. */
async function copy(statements: string, signal?: AbortSignal): Promise<string[]> {
  const scratch = await mkdtemp(join(folder, 'build-'));
  const database = join(scratch, 'finished.duckdb');
  const manifestFile = join(scratch, 'manifest.json');
  const instance = await DuckDBInstance.create(database);
  const connection = await instance.connect();
  await connection.run(`set timezone = 'UTC'; create schema marts; create table marts.bills (${columns});
    comment on table marts.bills is 'One row per bill'; comment on column marts.bills.name is 'The document''s name';
    ${['text', 'amount', 'rate', 'ratio', 'rows', 'is_today', 'day', 'seen_at'].map((name) => `comment on column marts.bills.${name} is '${name} \\';`).join('\n')}
    ${statements}`);
  await connection.run(`copy marts.bills to '${join(scratch, 'bills.parquet')}'`);
  connection.closeSync();
  instance.closeSync();
  const config = { indexes: [{ columns: ['name', 'day'] }] };
  await writeFile(
    manifestFile,
    JSON.stringify({ nodes: { 'model.daybook.bills': { name: 'bills', config } } }),
  );
  return withBuildLock({ databaseUrl, target: 'postgres' }, (lock) =>
    copyIntoPostgres(
      lock,
      { database, manifestFile, scratch },
      { onStep: () => undefined, ...(signal !== undefined && { signal }) },
    ),
  );
}

async function shownSchema(): Promise<string> {
  const { value } = await row(warehouse, `select value from sync.settings where name = 'marts_schema'`);
  return String(value);
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
