import { execFile, execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { beforeAll, describe, expect, test } from 'vitest';
import { pythonEnvironment } from '../support/python-environment.ts';
import { blocksOf } from './blocks-of.ts';
import { expectedOf, measureNames } from './measures.ts';
import { requirementsOfDocs } from './requirements-of-docs.ts';
import { isOfDuckDb, lakeSql, measuresIn, queriesIn, says, statementsOfDocs } from './samples.ts';
import { takeTour } from './tour.ts';
import { proofTest } from '../support/proof-test.ts';

/** Follows the docs to the letter, as somebody who took the tour does. */
const root = resolve(import.meta.dirname, '../..');
const pages = join(root, 'docs/connect');
const tour = await takeTour();
const python = await pythonEnvironment(requirementsOfDocs());
const hasPsql = isInstalled('psql');

beforeAll(() => {
  writeFileSync(join(tour.home, 'lake.sql'), lakeSql());
});

test('the tour says where to look, and each of its queries returns rows', async () => {
  expect(tour.said).toMatch(/^Postgres +postgres:\/\/daybook@127\.0\.0\.1:\d+\/\S+$/m);
  expect(tour.said).toMatch(/^Postgres, with psql +npx daybook psql$/m);
  expect(tour.said).toMatch(/^Postgres, with other tools +npx daybook url$/m);
  const queries = [...tour.said.matchAll(/^ {2}(npx daybook sql .*)$/gm)].map(([, line]) => line ?? '');
  expect(queries).toHaveLength(3);
  for (const line of queries) expect(await run('sh', ['-ec', line])).toMatch(/\([1-9]\d* rows?\)/);
});

test('the tour shows vendors with names, and a sync that reads only what has changed', async () => {
  const [named] = await tour.query(
    `select count(*) as all, count(*) filter (where is_inferred and vendor_id <> '(none)') as nameless from marts.vendors`,
  );
  expect(named).toMatchObject({ nameless: '0' });
  const syncs = [...tour.said.matchAll(/^Sync of acme-us\n[^]*?^bills +complete +\d+ +([\d,]+)/gm)];
  expect(Number(syncs[1]?.[1])).toBeLessThan(10);
});

test('a dashboard says which moment it shows, and describes one month of recurring revenue in words', async () => {
  const said = await run('npx', ['daybook', 'dashboard', '--out', 'dashboard.html']);
  expect(said).toMatch(/data as of \d{4}-\d\d-\d\d \d\d:\d\d UTC, marts of \d{4}-\d\d-\d\d\.$/m);
  const page = readFileSync(join(tour.home, 'dashboard.html'), 'utf8');
  expect(page).toMatch(/has figures, so there is no course to draw yet\./);
  expect(page).not.toMatch(/Vendor [0-9a-f]{8}/);
});

describe('an amount that a sample calls open, overdue or spend equals that of the mart', () => {
  const samples = [...statementsOfDocs(), ...queriesIn(tour.said).map((sql) => ({ page: 'the tour', sql }))];

  test('and each of the three is in a sample', () => {
    for (const measure of measureNames) expect(samples.some(({ sql }) => says(sql, measure))).toBe(true);
    for (const { page, sql } of samples)
      expect(/sum\(amount_due\) as (due|open|overdue)/.test(sql), `${page}: ${sql}`).toBe(false);
  });

  test.each(samples.filter((sample) => measuresIn(sample).length > 0))(
    'in $page: $sql',
    async (sample) => {
      const { sql } = sample;
      const rows = isOfDuckDb(sample)
        ? (JSON.parse(await run('duckdb', ['-bail', '-json', '-init', 'lake.sql', '-c', sql])) as Row[])
        : await tour.query(sql);
      expect(rows.length).toBeGreaterThan(0);
      for (const measure of measuresIn(sample))
        for (const row of rows) {
          const [expected] = await tour.query(expectedOf(measure, row, sql));
          expect(await same(row[measure], expected?.expected), JSON.stringify(row)).toBe(true);
        }
    },
    120_000,
  );
});

test.skipIf(!hasPsql)('psql-and-bi.md can be followed, on the embedded database too', async () => {
  const blocks = blocksOf(join(pages, 'psql-and-bi.md'));
  for (const { text } of blocks.filter(({ language }) => language === 'sh'))
    expect(await run('sh', ['-ec', text])).not.toBe('');
  for (const { text } of blocks.filter(({ language, note }) => language === 'sql' && note === ''))
    expect(await run('npx', ['daybook', 'psql', '--', '-v', 'ON_ERROR_STOP=1', '-qc', text])).toMatch(
      /\(\d+ rows?\)/,
    );
  const url = new URL((await run('npx', ['daybook', 'url'])).trim());
  const reader = new pg.Client(url.href);
  await reader.connect();
  const refused = async (text: string, why: RegExp): Promise<void> => {
    await expect(reader.query(text)).rejects.toThrow(why);
  };
  await refused('select * from sync.connections', /permission denied/);
  await refused('select * from history.record_versions', /permission denied/);
  await refused('delete from finance.bills', /read-only transaction/);
  await refused('begin read write; delete from finance.bills', /permission denied/);
  await reader.end();
});

test('duckdb.md: every block does what the page says', async () => {
  const page = join(pages, 'duckdb.md');
  for (const { text } of blocksOf(page).filter(({ language }) => language === 'sh'))
    expect(await run('sh', ['-ec', text])).toContain('currency_code');
  const sql = blocksOf(page).filter(({ language, note }) => language === 'sql' && note === '');
  const statements = sql.map(({ text }) => text).join('\n');
  const said = await run('duckdb', ['-bail', '-csv', '-init', 'lake.sql', '-c', statements]);
  expect(said).toContain('"DECIMAL(38,9)","DECIMAL(38,21)",DOUBLE,"DECIMAL(38,2)"');
  await runsAsSaid(page);
});

proofTest('python.md: pandas, pyarrow and Polars print what the page says', async () => {
  await runsAsSaid(join(pages, 'python.md'));
});

// Needs PySpark, which takes 400 MB and Java: TEST_SPARK_PYTHON names a Python that has it.
test.skipIf(process.env.TEST_SPARK_PYTHON === undefined)(
  'spark.md: Spark prints what the page says',
  async () => {
    await runsAsSaid(join(pages, 'spark.md'), process.env.TEST_SPARK_PYTHON);
  },
);

/** Runs the Python of a page as one program. The comment after a print is its expected output. */
async function runsAsSaid(page: string, interpreter = join(python, 'bin', 'python')): Promise<void> {
  const blocks = blocksOf(page).filter(({ language }) => language === 'python');
  const program = blocks.map(({ text }) => text).join('\n');
  const expected = [...program.matchAll(/^print\(.*\) {2}# (.*)$/gm)].map(([, said]) => said);
  expect(expected.length).toBeGreaterThan(2);
  expect((await run(interpreter, ['-c', program])).trimEnd().split('\n')).toEqual(expected);
}

type Row = Readonly<Record<string, string | null>>;

type Told = string | null | undefined;

/** Compares as Postgres does, to the last digit. */
async function same(one: Told, other: Told): Promise<boolean> {
  if (one === null || other === null) return one === other;
  const [row] = await tour.query(`select '${String(one)}'::numeric = '${String(other)}'::numeric as same`);
  return row?.same === 't';
}

async function run(command: string, args: readonly string[]): Promise<string> {
  const PATH = `${tour.home}:${join(python, 'bin')}:${process.env.PATH ?? ''}`;
  const env = { ...process.env, ...tour.env, PATH, DAYBOOK_LAKE: tour.lake };
  const running = promisify(execFile)(command, args, { env, cwd: tour.home });
  running.child.stdin?.end();
  return (await running).stdout;
}

function isInstalled(command: string): boolean {
  try {
    execFileSync(command, ['--version']);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false;
    throw error;
  }
}
