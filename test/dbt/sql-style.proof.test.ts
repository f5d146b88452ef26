import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { dbtFolder } from './marts-of.ts';
import { cacheFolder } from '../support/cache-folder.ts';

const run = promisify(execFile);
const folder = await mkdtemp(join(tmpdir(), 'daybook-test-style-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

test('no SQL outside of the engine macros divides or averages', async () => {
  const files = (await readdir(dbtFolder, { recursive: true })).filter(
    (file) => /^(models|macros|tests)\/.*\.sql$/.test(file) && !file.startsWith('macros/engine/'),
  );
  expect(files.length).toBeGreaterThan(50);
  const offending = [];
  for (const file of files) {
    const sql = (await readFile(join(dbtFolder, file), 'utf8'))
      .replace(/\{#[\s\S]*?#\}|--.*$/gm, '')
      // Template texts first, because they contain SQL texts.
      .replace(/"[^"]*"/g, '""')
      .replace(/'[^']*'/g, "''");
    if (/\/|\bavg\s*\(/i.test(sql)) offending.push(file);
  }
  expect(offending).toEqual([]);
});

test('the SQL of the models passes sqlfluff', async () => {
  const python = await installed();
  await cp(dbtFolder, join(folder, 'dbt'), { recursive: true });
  const profile = {
    daybook: { target: 'lake', outputs: { lake: { type: 'duckdb', path: ':memory:', schema: 'main' } } },
  };
  await writeFile(join(folder, 'profiles.yml'), JSON.stringify(profile));
  // Checks file by file, on both cores. Garbage collection would take a third of the time.
  const program = 'import gc; gc.disable(); from sqlfluff.cli.commands import cli; cli()';
  const args = ['lint', 'models', 'tests', '--processes', '2', '--disable-progress-bar', '--nocolor'];
  const said = await run(python, ['-c', program, ...args], {
    cwd: join(folder, 'dbt'),
    env: { ...process.env, DBT_PROFILES_DIR: folder, DBT_SEND_ANONYMOUS_USAGE_STATS: 'false' },
    maxBuffer: 16_000_000,
  }).then(
    () => '',
    // An error that ends it before any check is on the other output.
    (error: unknown) =>
      error instanceof Error && 'stdout' in error && error.stdout !== ''
        ? String(error.stdout)
        : String(error),
  );
  expect(said).toBe('');
});

/** The Python with sqlfluff, in an environment of its own, because only this test needs it. */
async function installed(): Promise<string> {
  const requirements = join(dbtFolder, 'lint-requirements.txt');
  const hash = createHash('sha256')
    .update(await readFile(requirements))
    .digest('hex');
  const environment = join(cacheFolder, `sqlfluff-${hash.slice(0, 16)}`);
  const python = join(environment, 'bin', 'python');
  if (existsSync(join(environment, 'bin', 'sqlfluff'))) return python;
  await run('python3', ['-m', 'venv', environment]);
  const pip = [
    '-m',
    'pip',
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '--requirement',
    requirements,
  ];
  await run(python, pip, { maxBuffer: 16_000_000 });
  return python;
}
