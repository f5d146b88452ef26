import { cp, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../embedded/temporary-folder.ts';
import { run } from './run.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

test('a second setup has nothing to do, prints nothing and ends within seconds', async () => {
  const started = performance.now();
  const { code, stdout, stderr } = await evaluate(`
    import { setUp } from '${moduleUrl('setup')}';
    await setUp();
  `);
  expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '', stderr: '' });
  expect(performance.now() - started).toBeLessThan(3000);
});

test('a Node version that is too old is refused in one sentence', async () => {
  const { stdout } = await evaluate(`
    import { checkNodeVersion } from '${moduleUrl('node-version')}';
    for (const version of ['18.20.1', '20.18.3', '20.19.0', '22.1.0', '24.0.0']) {
      try { checkNodeVersion(version); console.log(version, 'fine'); } catch (error) { console.log(error.message); }
    }
  `);
  expect(stdout.split('\n')).toEqual([
    'Daybook needs Node 20.19 or newer (22 and 24 are fine); this is 18.20.1. Get one at https://nodejs.org.',
    'Daybook needs Node 20.19 or newer (22 and 24 are fine); this is 20.18.3. Get one at https://nodejs.org.',
    '20.19.0 fine',
    '22.1.0 fine',
    '24.0.0 fine',
    '',
  ]);
});

test('packages count as installed only if all match the lockfile', async () => {
  const folder = await temporaryFolder();
  const areInstalled = async (): Promise<string> => {
    const { stdout } = await evaluate(`
      import { arePackagesInstalled } from '${moduleUrl('npm-packages')}';
      console.log(await arePackagesInstalled('${folder}'));
    `);
    return stdout.trim();
  };
  const lockfile = await readFile(join(root, 'package-lock.json'), 'utf8');
  await writeFile(join(folder, 'package-lock.json'), lockfile);
  expect(await areInstalled()).toBe('false');
  await mkdir(join(folder, 'node_modules'));
  const installed = join(folder, 'node_modules', '.package-lock.json');
  await cp(join(root, 'node_modules', '.package-lock.json'), installed);
  expect(await areInstalled()).toBe('true');
  await writeFile(
    installed,
    (await readFile(installed, 'utf8')).replace(/"integrity": "sha512-..../, '"integrity": "sha512-0000'),
  );
  expect(await areInstalled()).toBe('false');
});

test('the launcher says in one sentence that the packages are not installed', async () => {
  const folder = await temporaryFolder();
  await cp(join(root, 'bin'), join(folder, 'bin'), { recursive: true });
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(join(folder, 'tsconfig.json'), '{}');
  const { code, stderr } = await run([process.execPath, join(folder, 'bin', 'daybook.js'), 'status']);
  expect(code).toBe(1);
  expect(stderr).toBe('The npm packages are not installed; run npm start or npm install first.\n');
});

function evaluate(script: string): ReturnType<typeof run> {
  return run([process.execPath, '--input-type=module', '--eval', script]);
}

function moduleUrl(name: string): string {
  return new URL(`../../scripts/${name}.mjs`, import.meta.url).href;
}
