import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { intoPipe, NamedPipes } from '../../lake/parquet/csv-pipe.ts';
import type { BuildFollower } from '../../marts/build-settings.ts';
import { copyIntoPostgres } from '../../marts/copy-into-postgres.ts';
import { beginRemoval } from '../../warehouse/connections/begin-removal.ts';
import { BuildRunning, withBuildLock } from '../../warehouse/marts/build-lock.ts';
import { publishMarts } from '../../warehouse/marts/publish-marts.ts';
import { findRowsToCopy } from '../../warehouse/marts/rows-to-copy.ts';
import { LockHeld } from '../../warehouse/transactions/taking-locks.ts';
import { row, rows } from '../support/rows.ts';
import { addTestConnection } from '../support/test-connection.ts';
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

test('a copy gives way to a reader that holds a mart for longer than it may wait', async () => {
  await copy(`insert into marts.bills (name) values ('before')`);
  const reader = await warehouse.pool.connect();
  try {
    await reader.query('begin; select from marts.bills');
    await expect(
      copy(`insert into marts.bills (name) values ('after')`, { timeoutMilliseconds: 200 }),
    ).rejects.toThrow(LockHeld);
    expect((await reader.query('select name from marts.bills')).rows).toEqual([{ name: 'before' }]);
  } finally {
    await reader.query('rollback');
    reader.release();
  }
});

test('whoever writes to a pipe ends when its reader has failed, even before the pipe was opened', async () => {
  const pipes = new NamedPipes(await mkdtemp(join(folder, 'pipes-')), 'test');
  let fail = (): void => undefined;
  const failed = new Promise<void>((resolve) => {
    fail = resolve;
  });
  const writing = intoPipe(
    pipes,
    async (pipe) => {
      await failed;
      await writeFile(pipe, 'late');
    },
    () => {
      fail();
      return Promise.reject(new Error('It was refused.'));
    },
  );
  await expect(writing).rejects.toThrow('It was refused.');
});

test('a copy ends when it is told to', async () => {
  const ending = new AbortController();
  ending.abort(new Error('The worker stops.'));
  await expect(
    copy(`insert into marts.bills (name) values ('late')`, { signal: ending.signal }),
  ).rejects.toThrow('The worker stops.');
});

describe('Postgres shows marts of a snapshot', () => {
  const snapshotId = '20261121T101112Z-aaaaaa';
  const known = { snapshotId, manifestSha256: 'a'.repeat(64), connections: [] as string[] };
  let takenAt: unknown;

  beforeEach(async () => {
    await set('delete from sync.marts; delete from sync.snapshots');
    ({ taken_at: takenAt } = await row(
      warehouse,
      `insert into sync.snapshots (snapshot_id, run_id, lake, taken_at, rows, bytes, unfit, mark, manifest_sha256)
       values ($1, 'run', '/lake', clock_timestamp(), 0, 0, 0, '', $2)
       returning to_char(taken_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as taken_at`,
      [snapshotId, known.manifestSha256],
    ));
  });

  test('that this warehouse has published as it is', async () => {
    expect(await findRowsToCopy(warehouse, known)).toEqual({ takenAt });
    for (const other of [
      { ...known, manifestSha256: 'b'.repeat(64) },
      { ...known, snapshotId: '20261121T101112Z-bbbbbb' },
    ])
      expect(await findRowsToCopy(warehouse, other)).toEqual({
        failure: `This warehouse did not publish snapshot ${other.snapshotId} as it is.`,
      });
    await set('update sync.snapshots set removed_at = now()');
    expect(await findRowsToCopy(warehouse, known)).toHaveProperty('failure');
  });

  test('that has no older rows than it shows, whether they were copied or built there', async () => {
    const older = { failure: `Postgres shows marts of newer rows than snapshot ${snapshotId} has.` };
    const marts = `insert into sync.marts (target, run_id, as_of_date, marts, snapshot_id, begun_at, built_at)
      select 'postgres', 'built', '2026-01-01', 24`;
    await set(`${marts}, 'other', taken_at, taken_at + interval '1 minute' from sync.snapshots`);
    expect(await findRowsToCopy(warehouse, known)).toEqual({ takenAt });
    await set(`update sync.marts set begun_at = begun_at + interval '1 microsecond'`);
    expect(await findRowsToCopy(warehouse, known)).toEqual(older);
    await set('delete from sync.marts');
    await set(
      `${marts}, null, taken_at - interval '1 minute', taken_at + interval '1 microsecond' from sync.snapshots`,
    );
    expect(await findRowsToCopy(warehouse, known)).toEqual(older);
    await set(`update sync.marts set built_at = built_at - interval '1 microsecond'`);
    expect(await findRowsToCopy(warehouse, known)).toEqual({ takenAt });
  });

  test('that was not taken ahead of the clock of Postgres', async () => {
    await set(`update sync.snapshots set taken_at = taken_at + interval '1 hour'`);
    expect(await findRowsToCopy(warehouse, known)).toEqual({
      failure: `Snapshot ${snapshotId} was taken at a time ahead of the clock of Postgres.`,
    });
  });

  test('whose connections are all still there', async () => {
    const connections = [await addTestConnection(warehouse), await addTestConnection(warehouse)];
    // Another company may have been added under the name of one that was removed.
    expect(await findRowsToCopy(warehouse, { ...known, connections })).toHaveProperty('failure');
    await set('update sync.snapshots set taken_at = clock_timestamp()');
    expect(await findRowsToCopy(warehouse, { ...known, connections })).toHaveProperty('takenAt');
    await beginRemoval(warehouse, { connectionId: connections[1]!, keepData: true });
    expect(await findRowsToCopy(warehouse, { ...known, connections })).toEqual({
      failure: `A connection was removed since snapshot ${snapshotId} was taken.`,
    });
  });
});

test('a build holds the lock of another target until its work is over, or throws where another build has it', async () => {
  const build = (target: 'lake' | 'postgres'): Promise<string> =>
    withBuildLock({ databaseUrl, target }, () => Promise.resolve('built'));
  await withBuildLock({ databaseUrl, target: 'lake' }, async (lock) => {
    await lock.withAnother('postgres', async () => {
      await expect(build('postgres')).rejects.toThrow(BuildRunning);
      await lock.assertHeld();
    });
    await withBuildLock({ databaseUrl, target: 'postgres' }, async () => {
      await expect(lock.withAnother('postgres', () => Promise.resolve())).rejects.toThrow(BuildRunning);
    });
    await expect(lock.withAnother('postgres', () => Promise.reject(new Error('It failed.')))).rejects.toThrow(
      'It failed.',
    );
    expect(await build('postgres')).toBe('built');
    await lock.assertHeld();
    await expect(build('lake')).rejects.toThrow(BuildRunning);
  });
});

function set(statement: string): Promise<unknown> {
  return warehouse.pool.query(statement);
}

const asTexts = ['name', 'text', 'amount', 'rate', 'ratio', 'rows', 'is_today', 'day', 'seen_at']
  .map((name) => `${name}::text`)
  .join(', ');

/** Copies the mart `bills`, filled by `statements`. */
async function copy(
  statements: string,
  follower: Pick<BuildFollower, 'signal' | 'timeoutMilliseconds'> = {},
): Promise<string[]> {
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
  return withBuildLock({ databaseUrl, target: 'lake' }, (lock) =>
    lock.withAnother('postgres', async (postgres) => {
      const marts = { database, manifestFile, scratch, snapshotId: 'snapshot', manifestSha256: '', lock };
      const schema = await copyIntoPostgres(postgres, marts, { onStep: () => undefined, ...follower });
      return postgres.inSession((client) => publishMarts(client, { schema }, follower));
    }),
  );
}

async function shownSchema(): Promise<string> {
  const { value } = await row(warehouse, `select value from sync.settings where name = 'marts_schema'`);
  return String(value);
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
