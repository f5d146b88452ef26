import { execFile } from 'node:child_process';
import { cp, mkdir, symlink } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';

const root = resolve(import.meta.dirname, '../..');

/** Builds the product into a folder, as it is packed and installed. Returns the path of its `daybook`. */
export async function buildProduct(folder: string): Promise<string> {
  await mkdir(folder);
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'));
  await cp(join(root, 'package.json'), join(folder, 'package.json'));
  await cp(join(root, 'bin'), join(folder, 'bin'), { recursive: true });
  const build = [
    join(root, 'scripts', 'build.mjs'),
    '--no-check',
    '--no-bill',
    '--out',
    join(folder, 'dist'),
  ];
  await promisify(execFile)(process.execPath, [
    ...build,
    ...testPrograms.flatMap((file) => ['--also', file]),
  ]);
  return join(folder, 'bin', 'daybook.js');
}

/** The programs that tests start with `testProgram`. */
const testPrograms = [
  'test/cli/outcomes-main.ts',
  'test/embedded/embedded-main.ts',
  ...['churn', 'command-lines', 'flood', 'hang-up', 'one-byte-chunks', 'pipeline'].map(
    (name) => `test/security/${name}-main.ts`,
  ),
  'test/support/commands-main.ts',
  'test/support/hold-lock-main.ts',
];
