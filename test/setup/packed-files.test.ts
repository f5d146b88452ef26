import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { copyAssets } from '../../scripts/copy-assets.mjs';
import { temporaryFolder } from '../embedded/temporary-folder.ts';
import { run } from './run.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** Files that people leave in a checkout: settings with secrets, and dbt's output when it is run there by hand. */
const left = [
  '.env',
  'daybook.env',
  '.env.production',
  'config/.env',
  'config/production.env',
  'dbt/profiles.yml',
  'dbt/logs/dbt.log',
  'dbt/target/run_results.json',
  'dbt/target/compiled/bills.sql',
  'dbt/__pycache__/run_dbt.cpython-311.pyc',
];

test("the package contains neither settings nor dbt's output", async () => {
  const from = await temporaryFolder();
  const sources = [
    'config/defaults.css',
    'dbt/models/target/bills.sql',
    'dbt/dbt_project.yml',
    'temporal-cli/go.sum',
  ];
  const unknown = ['config/server.key', 'config/backup.sql~', 'config/read-env.ts'];
  for (const path of [...sources, ...left, ...unknown]) {
    await mkdir(join(from, dirname(path)), { recursive: true });
    await writeFile(join(from, path), 'content');
  }
  const to = await temporaryFolder();
  copyAssets({ from, to, names: ['config', 'dbt', 'temporal-cli', 'not there'] });
  const copied = await readdir(to, { recursive: true, withFileTypes: true });
  const files = copied
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name));
  expect(files.sort()).toEqual(sources.map((path) => join(to, path)).sort());
  expect(copied.filter(({ name }) => name === '__pycache__')).toEqual([]);
});

test('git has no compiled Python, which no diff shows', async () => {
  const { stdout } = await run(['git', 'ls-files', '*.pyc', '*.pyo', '*.so'], { cwd: root });
  expect(stdout).toBe('');
});

test("settings and dbt's output are ignored by git and listed in .dockerignore", async () => {
  const { stdout } = await run(['git', 'check-ignore', '--no-index', ...left], { cwd: root });
  expect(stdout.trim().split('\n')).toEqual(left);
  const ignored = (await readFile(join(root, '.dockerignore'), 'utf8')).split('\n');
  expect(ignored).toEqual(
    expect.arrayContaining(['**/.env*', '**/*.env', 'dbt/logs', 'dbt/target', 'dbt/profiles.yml']),
  );
});
