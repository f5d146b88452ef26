import { execFile } from 'node:child_process';
import {
  chmod,
  chown,
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { eventually } from '../support/eventually.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const marker = 'This code is another user’s.';

test('compiled sources that another user left in the temporary folder do not run', async () => {
  const { folder, temporary } = await makeCheckout();
  // Plants code as the other user would: names and contents are the same for everybody who has the sources. An unguarded start shows that
  // the planted code would run.
  const unguarded = ['--import', import.meta.resolve('tsx'), 'cli/main.ts'];
  await runPlanted(unguarded, { cwd: folder, temporary, cache: temporary });
  expect(await run(['bin/daybook.js'], { cwd: folder, temporary })).toBe('the command line\n');
});

test('compiled sources never land in the temporary folder, even if a program named in NODE_OPTIONS hooks into imports first', async () => {
  const { folder, temporary } = await makeCheckout();
  await writeFile(
    join(folder, 'tracer.mjs'),
    `import { register } from 'node:module'; register('data:text/javascript,');`,
  );
  const options = { cwd: folder, temporary, env: { NODE_OPTIONS: `--import ${join(folder, 'tracer.mjs')}` } };
  await run(['bin/daybook.js'], options);
  expect(await readdir(temporary)).toEqual([]);
});

test.each([
  ['every user can write into', (cache: string) => chmod(cache, 0o777)],
  ['a group can write into', (cache: string) => chmod(cache, 0o770)],
  [
    'is a link',
    async (cache: string) => {
      await rename(cache, `${cache}-elsewhere`);
      await symlink(`${cache}-elsewhere`, cache);
    },
  ],
  ...(process.geteuid?.() === 0
    ? ([['is another user’s', (cache: string) => chown(cache, 65_534, 65_534)]] as const)
    : []),
] as const)('a folder for compiled sources that %s is not used', async (_, expose) => {
  const { folder, temporary } = await makeCheckout();
  const cache = join(folder, 'node_modules', '.tsx');
  // The compiled sources are used while the folder is ours alone, so that a start need not compile.
  await runPlanted(['bin/daybook.js'], { cwd: folder, temporary, cache });
  await expose(cache);
  expect(await run(['bin/daybook.js'], { cwd: folder, temporary })).toBe('the command line\n');
  expect(await readdir(temporary)).toEqual([]);
});

test.runIf(process.geteuid?.() === 0)("a start writes nothing into another user's checkout", async () => {
  const { folder, temporary } = await makeCheckout();
  await chown(join(folder, 'node_modules'), 65_534, 65_534);
  expect(await run(['bin/daybook.js'], { cwd: folder, temporary })).toBe('the command line\n');
  expect(await readdir(join(folder, 'node_modules'))).toEqual(['tsx']);
  expect(await readdir(temporary)).toEqual([]);
});

test('a tsconfig.json in the working folder or above it does not decide what code Daybook’s processes run', async () => {
  const folder = await temporaryFolder();
  const hers = join(folder, 'hers');
  const temporary = join(folder, 'tmp');
  await mkdir(hers);
  await mkdir(temporary);
  await writeFile(
    join(folder, 'evil.ts'),
    `import { writeFileSync } from 'node:fs';
writeFileSync(${JSON.stringify(join(folder, 'ran-'))} + process.argv[1].split('/').at(-1), ''); export const z = {}; export default {};`,
  );
  const paths = { zod: ['./evil.ts'], fastify: ['./evil.ts'] };
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({ compilerOptions: { baseUrl: '.', paths } }),
  );
  const loader = new URL('../../scripts/load-typescript.mjs', import.meta.url).href;
  const main = fileURLToPath(new URL('checkout-children-main.ts', import.meta.url));
  const output = await run(['--import', loader, main, folder], { cwd: hers, temporary });
  expect((await readdir(folder)).filter((name) => name.startsWith('ran'))).toEqual([]);
  expect(output).toMatch(/^The sandbox started\.\nThe export: /);
  expect(await readdir(temporary)).toEqual([]);
});

/** Stays alive until tsx has written the compiled source, which tsx does not wait for. */
const oneLine = `console.log('the command line' as string); setTimeout(() => undefined, 300);\n`;

/** Makes a checkout with a command line of one line, and everything needed to start it. */
async function makeCheckout(): Promise<{ folder: string; temporary: string }> {
  const folder = await temporaryFolder();
  for (const path of ['bin/daybook.js', 'scripts/load-typescript.mjs', 'tsconfig.json', 'package.json'])
    await cp(join(root, path), join(folder, path));
  await mkdir(join(folder, 'node_modules'));
  await symlink(join(root, 'node_modules', 'tsx'), join(folder, 'node_modules', 'tsx'));
  await mkdir(join(folder, 'cli'));
  await writeFile(join(folder, 'cli', 'main.ts'), oneLine);
  const temporary = join(folder, 'tmp');
  await mkdir(temporary);
  return { folder, temporary };
}

/** Runs the program until it executes the code planted in its compiled sources. */
async function runPlanted(args: readonly string[], options: RunOptions & { cache: string }): Promise<void> {
  await eventually(async () => {
    await run(args, options);
    await plantIn(options.cache);
    return (await run(args, options)).includes(marker) || undefined;
  });
}

/** Puts code into each compiled source below the folder. */
async function plantIn(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const compiled = JSON.parse(await readFile(file, 'utf8')) as { code: string };
    const code = `console.log(${JSON.stringify(marker)});${compiled.code}`;
    await writeFile(file, JSON.stringify({ ...compiled, code }));
  }
}

interface RunOptions {
  readonly cwd: string;
  readonly temporary: string;
  readonly env?: Record<string, string>;
}

async function run(args: readonly string[], { cwd, temporary, env = {} }: RunOptions): Promise<string> {
  const { PATH, HOME } = process.env;
  const options = { cwd, env: { PATH, HOME, TMPDIR: temporary, ...env } };
  const { stdout } = await promisify(execFile)(process.execPath, args, options);
  return stdout;
}

async function temporaryFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'daybook-checkout-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}
