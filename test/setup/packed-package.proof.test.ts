import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../embedded/temporary-folder.ts';
import { run } from './run.ts';

test('the packed package, installed in an empty folder, provides a daybook command that runs', async () => {
  const folder = await temporaryFolder();
  await writeFile(join(folder, 'package.json'), '{"private":true}');
  const pack = await run(['npm', 'pack', '--json', '--pack-destination', folder], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
  });
  expect(pack.code, pack.stderr).toBe(0);
  const [packed] = JSON.parse(pack.stdout.slice(pack.stdout.indexOf('['))) as { filename: string }[];
  const install = await run(['npm', 'install', '--prefer-offline', join(folder, packed?.filename ?? '')], {
    cwd: folder,
  });
  expect(install.code, install.stderr).toBe(0);

  const daybook = (...args: string[]): ReturnType<typeof run> =>
    run(['npx', 'daybook', ...args], { cwd: folder, env: { DAYBOOK_HOME: join(folder, 'home') } });
  expect(await daybook('--help')).toMatchObject({
    code: 0,
    stdout: expect.stringContaining('quarantine') as string,
  });
  expect(await daybook('status')).toMatchObject({ stderr: expect.stringContaining('daybook up') as string });
});
