import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../embedded/temporary-folder.ts';
import { run } from './run.ts';

const nothing = { DAYBOOK_TEMPORAL_CLI: undefined, PATH: '/nowhere', XDG_CACHE_HOME: '/nowhere' };

test('the CLI named by DAYBOOK_TEMPORAL_CLI takes precedence over PATH', async () => {
  const folder = await temporaryFolder();
  const chosen = await programThatSays(
    join(folder, 'mine'),
    'temporal version 0.0.0-DEV (Server 1.31.2, UI 2.50.1)',
  );
  await programThatSays(join(folder, 'temporal'), 'temporal version 1.8.2 (Server 1.31.2, UI 2.50.1)');
  expect(await find({ ...nothing, DAYBOOK_TEMPORAL_CLI: chosen, PATH: folder })).toBe(chosen);
});

test('DAYBOOK_TEMPORAL_CLI can be set in a .env file, and the environment overrides it', async () => {
  const folder = await temporaryFolder();
  const [ours, other] = [join(folder, 'ours'), join(folder, 'other')];
  for (const file of [ours, other])
    await programThatSays(file, 'temporal version 1.8.2 (Server 1.31.2, UI 2.50.1)');
  await writeFile(join(folder, '.env'), `DAYBOOK_TEMPORAL_CLI=${ours}\n`);
  expect(await find(nothing, folder)).toBe(ours);
  expect(await find({ ...nothing, DAYBOOK_TEMPORAL_CLI: other }, folder)).toBe(other);
});

test('a DAYBOOK_TEMPORAL_CLI that is not a Temporal CLI is refused in one sentence', async () => {
  const { code, stderr } = await runFind({ ...nothing, DAYBOOK_TEMPORAL_CLI: process.execPath });
  expect(code).not.toBe(0);
  expect(stderr).toContain(
    `DAYBOOK_TEMPORAL_CLI is ${process.execPath}, which is not a Temporal CLI that runs`,
  );
});

test('a temporal on PATH is used if it is recent enough', async () => {
  const folder = await temporaryFolder();
  const onPath = await programThatSays(
    join(folder, 'temporal'),
    'temporal version 1.10.0 (Server 1.33.0, UI 2.60.0)',
  );
  expect(await find({ ...nothing, PATH: folder })).toBe(onPath);
});

test('a temporal on PATH that is too old is skipped in favor of the cached copy', async () => {
  const folder = await temporaryFolder();
  await programThatSays(join(folder, 'temporal'), 'temporal version 1.5.1 (Server 1.29.1, UI 2.42.0)');
  expect(await find({ ...nothing, PATH: folder })).toBe('none');
  const cached = join(folder, 'daybook', 'temporal-1.8.2', 'temporal');
  await programThatSays(cached, 'temporal version 1.8.2 (Server 1.31.2, UI 2.50.1)');
  expect(await find({ ...nothing, PATH: folder, XDG_CACHE_HOME: folder })).toBe(cached);
});

async function programThatSays(file: string, version: string): Promise<string> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `#!/bin/sh\necho '${version}'\n`, { mode: 0o755 });
  return file;
}

async function find(env: Readonly<Record<string, string | undefined>>, cwd?: string): Promise<string> {
  const { stdout, stderr } = await runFind(env, cwd);
  expect(stderr).toBe('');
  return stdout.trim();
}

function runFind(
  env: Readonly<Record<string, string | undefined>>,
  cwd = process.cwd(),
): ReturnType<typeof run> {
  const module = new URL('../../scripts/temporal-cli.mjs', import.meta.url).href;
  const script = `import { findTemporalCli } from '${module}'; console.log((await findTemporalCli()) ?? 'none');`;
  return run([process.execPath, '--input-type=module', '--eval', script], { env, cwd });
}
