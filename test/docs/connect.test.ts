import { execFile, execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { DuckDBInstance } from '@duckdb/node-api';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openLake } from '../../lake/open-lake.ts';
import { publishOnLake } from '../../marts/publish-on-lake.ts';
import { createTestLake } from '../lake/export-of.ts';
import { pythonEnvironment } from '../lake/python-environment.ts';
import { bill, billLine, list } from '../support/finance-records.ts';
import { land } from '../support/land.ts';
import { addTestConnection } from '../support/test-connection.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { blocksOf } from './blocks-of.ts';

const pages = resolve(import.meta.dirname, '../../docs/connect');
const { warehouse, url, adminUrl } = await createTestDatabase();
const { exportNow, location, scratch } = await createTestLake(url);
const folder = mkdtempSync(join(tmpdir(), 'daybook-test-connect-'));
const hasPsql = isInstalled('psql');
let python: string;

beforeAll(async () => {
  const requirements = readFileSync(join(import.meta.dirname, 'connect-requirements.txt'), 'utf8');
  python = await pythonEnvironment(requirements.split('\n').filter((line) => /^\w/.test(line)));
  const connectionId = await addTestConnection(warehouse);
  const rated = (id: string, amount: string, rate: string): string =>
    bill(id, {
      amount_due: amount,
      currency_rate: `"${rate}"`,
      status: '"open"',
      line_items: list(billLine()),
    });
  await land(warehouse, {
    connectionId,
    stream: 'bills',
    pages: [[rated('a', '1.123456789', '1.123456789012'), rated('b', '12345678901.000000001', '0.9')]],
  });
  const { snapshotId } = await exportNow();
  await publishStandIn(snapshotId);
});

afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await asAdministrator('drop role if exists bi_tool');
});

test.skipIf(!hasPsql)('psql-and-bi.md: a login for readers sees what the page says', async () => {
  const blocks = blocksOf(join(pages, 'psql-and-bi.md'));
  for (const { text } of blocks.filter(({ note }) => note === 'administrator')) await asAdministrator(text);
  const readerUrl = new URL(url);
  readerUrl.username = 'bi_tool';
  readerUrl.password = 'choose-a-long-one';
  const psql = (text: string): Promise<string> =>
    run('psql', [readerUrl.href, '-v', 'ON_ERROR_STOP=1', '-qc', text]);
  for (const { text } of blocks.filter(({ language }) => language === 'sh'))
    expect(await run('sh', ['-ec', text], { READER_URL: readerUrl.href })).toContain('amount_due');
  for (const { text } of blocks.filter(({ language, note }) => language === 'sql' && note === ''))
    expect(await psql(text)).toMatch(/\(\d+ rows?\)/);
  await expect(psql('select * from sync.connections')).rejects.toThrow(/permission denied/);
  await expect(psql('select * from history.record_versions')).rejects.toThrow(/permission denied/);
  await expect(psql('delete from finance.bills')).rejects.toThrow(/read-only transaction/);
  await expect(psql('begin read write; delete from finance.bills')).rejects.toThrow(/permission denied/);
});

test('duckdb.md: every block does what the page says', async () => {
  const page = join(pages, 'duckdb.md');
  const sql = blocksOf(page).filter(({ language }) => language === 'sql');
  const said = await run('duckdb', ['-bail', '-csv', '-c', sql.map(({ text }) => text).join('\n')]);
  expect(said).toContain('"DECIMAL(38,9)","DECIMAL(38,21)",DOUBLE,"DECIMAL(38,2)"');
  for (const { text } of blocksOf(page).filter(({ language }) => language === 'sh'))
    expect(await run('sh', ['-ec', text])).toMatch(/\d{8}T\d{6}Z/);
  await runsAsSaid(page);
});

test('python.md: pandas, pyarrow and Polars print what the page says', async () => {
  await runsAsSaid(join(pages, 'python.md'));
});

// PySpark takes 400 MB and a Java: where TEST_SPARK_PYTHON names a Python that has it.
test.skipIf(process.env.TEST_SPARK_PYTHON === undefined)(
  'spark.md: Spark prints what the page says',
  async () => {
    await runsAsSaid(join(pages, 'spark.md'), process.env.TEST_SPARK_PYTHON);
  },
);

/** The Python of a page is one program. What stands behind a print as a comment is what it prints. */
async function runsAsSaid(page: string, interpreter = join(python, 'bin', 'python')): Promise<void> {
  const blocks = blocksOf(page).filter(({ language }) => language === 'python');
  const program = blocks.map(({ text }) => text).join('\n');
  const expected = [...program.matchAll(/^print\(.*\) {2}# (.*)$/gm)].map(([, said]) => said);
  expect(expected.length).toBeGreaterThan(2);
  expect((await run(interpreter, ['-c', program])).trimEnd().split('\n')).toEqual(expected);
}

/** Marts as a build leaves them, without the half minute that dbt takes: those that the pages read. */
async function publishStandIn(snapshotId: string): Promise<void> {
  const database = join(folder, 'built.duckdb');
  const instance = await DuckDBInstance.create(database);
  const connection = await instance.connect();
  await connection.run(`create schema marts; create table marts.ap_ageing as
    select 'USD' as currency_code, 1.5::decimal(38,9) as overdue_amount, true as is_today`);
  connection.closeSync();
  instance.closeSync();
  const lake = await openLake({ location, scratch });
  await publishOnLake(lake, { database, snapshotId, asOfDate: '2026-11-21', scratch: folder });
}

async function asAdministrator(statements: string): Promise<void> {
  const client = new pg.Client({ connectionString: adminUrl });
  await client.connect();
  await client.query(statements).finally(() => client.end());
}

async function run(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<string> {
  const PATH = `${join(python, 'bin')}:${process.env.PATH ?? ''}`;
  const options = { env: { ...process.env, PATH, DAYBOOK_LAKE: location, ...env }, cwd: folder };
  return (await promisify(execFile)(command, args, options)).stdout;
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
