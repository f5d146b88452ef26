import { createHash } from 'node:crypto';
import { chmod, chown, lchown, mkdir, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { pythonVersion, pythonWith, type PythonNeeds } from '../../python/python-environment.ts';
import { temporaryFolder } from '../embedded/temporary-folder.ts';
import { run } from '../setup/run.ts';

/** Downloads are kept in a folder with a known name, below a HOME that may be another user's after sudo. */
const otherUser = 54_321;
const isRoot = process.geteuid?.() === 0;

test.runIf(isRoot)(
  'a Python environment that another user could have made or changed does not run',
  async () => {
    const home = await temporaryFolder();
    const requirements = join(home, 'requirements.txt');
    await writeFile(requirements, '# None.\n');
    const needs: PythonNeeds = { name: 'none', requirements, for: { who: 'Tests', again: 'npm test' } };
    // An environment with the right name that is complete is not made again, but run.
    const hash = createHash('sha256').update('# None.\n');
    const key = hash.update(await pythonVersion(needs.for)).digest('hex');
    const cacheFolder = join(home, '.cache', 'daybook');
    const environment = join(cacheFolder, `none-${key.slice(0, 16)}`);
    const made = `${environment}-abcdef`;
    await mkdir(made, { recursive: true });
    await writeFile(join(made, '.ready'), '');
    await symlink(made, environment);
    const find = (): Promise<string> => pythonWith(needs, { cacheFolder, onStep: () => undefined });
    expect(await find()).toBe(join(environment, 'bin', 'python'));
    await chmod(cacheFolder, 0o777);
    await find();
    expect((await stat(cacheFolder)).mode & 0o777).toBe(0o755);
    for (const [path, named] of [
      [made, environment],
      ...[cacheFolder, dirname(cacheFolder), home].map((folder) => [folder, folder] as const),
    ] as const) {
      await chown(path, otherUser, otherUser);
      await expect(find(), path).rejects.toThrow(
        `${named} belongs to another user (54321), so programs in ${cacheFolder} are not run: set XDG_CACHE_HOME`,
      );
      await chown(path, 0, 0);
    }
    await lchown(environment, otherUser, otherUser);
    await expect(find()).rejects.toThrow(`${environment} belongs to another user`);
  },
);

test.runIf(isRoot)('a Temporal CLI that another user could have made or changed does not run', async () => {
  const cache = await temporaryFolder();
  const file = join(cache, 'daybook', 'temporal-1.8.2', 'temporal');
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, '#!/bin/sh\necho temporal version 1.8.2\n', { mode: 0o755 });
  expect(await found(cache)).toBe(`${file}\n`);
  for (const path of [dirname(file), dirname(dirname(file)), cache]) {
    await chown(path, otherUser, otherUser);
    expect(await found(cache), path).toContain(`${path} belongs to another user (54321), so programs in`);
    await chown(path, 0, 0);
  }
  // An archive that root unpacks may keep the owner that it names. Such a file is downloaded again.
  await chown(file, otherUser, otherUser);
  expect(await found(cache)).toBe('none\n');
});

/** The result of findTemporalCli, or its error. */
async function found(cache: string): Promise<string> {
  const module = new URL('../../scripts/temporal-cli.mjs', import.meta.url).href;
  const script = `import { findTemporalCli } from '${module}'; console.log((await findTemporalCli()) ?? 'none');`;
  const env = { DAYBOOK_TEMPORAL_CLI: undefined, PATH: '/nowhere', XDG_CACHE_HOME: cache };
  const { stdout, stderr } = await run([process.execPath, '--input-type=module', '--eval', script], { env });
  return stdout + stderr;
}
