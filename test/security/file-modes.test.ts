import { chmod, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { prepareProject } from '../../marts/prepare-project.ts';
import { createInstallation } from '../support/installation.ts';
import { pathWithoutPython } from '../support/path-without-python.ts';

const { run, startWorker, connect, cwd } = await createInstallation();

test('files and folders that Daybook creates are private to their owner, whatever the umask of the shell', async () => {
  const before = process.umask(0o022);
  onTestFinished(() => {
    process.umask(before);
  });
  await startWorker(await pathWithoutPython(cwd));
  expect(await run(['sync', await connect({ records: 50 })])).toMatchObject({ code: 0 });
  expect(await run(['export'])).toMatchObject({ code: 0 });

  const made = await readdir(join(cwd, 'home'), { recursive: true, withFileTypes: true });
  expect(made.filter(({ name }) => name.endsWith('.parquet')).length).toBeGreaterThan(10);
  for (const entry of made) {
    const path = join(entry.parentPath, entry.name);
    expect([path, ((await stat(path)).mode & 0o777).toString(8)]).toEqual([
      path,
      entry.isDirectory() ? '700' : '600',
    ]);
  }
});

test('seeds, and their copies in the dbt project, are private to their owner', async () => {
  const before = process.umask(0o077);
  onTestFinished(() => {
    process.umask(before);
  });
  const seedsFolder = join(cwd, 'home', 'seeds');
  const project = join(cwd, 'home', 'dbt', 'project');
  await prepareProject({ seedsFolder, project });
  const seeds = await readdir(seedsFolder);
  expect(seeds).toContain('fx_rates.csv');
  for (const path of seeds.flatMap((seed) => [join(seedsFolder, seed), join(project, 'seeds', seed)]))
    expect([path, (await stat(path)).mode & 0o777]).toEqual([path, 0o600]);
  expect((await stat(project)).mode & 0o777).toBe(0o700);
});

test('doctor warns of a home or a lake that every user of the machine can read, and says how to close it', async () => {
  const lake = join(cwd, 'shared');
  await run(['snapshots', 'list'], { env: { DAYBOOK_LAKE: lake } });
  expect(await readFilesFinding(lake)).toEqual({ what: 'files', ok: true, found: 'closed to other users' });
  await chmod(cwd, 0o755);
  await chmod(join(cwd, 'home'), 0o755);
  expect(await readFilesFinding(lake)).toMatchObject({
    warning: true,
    found: expect.stringContaining(`chmod -R o= '${join(cwd, 'home')}'`) as string,
  });
  await chmod(join(cwd, 'home'), 0o700);
});

async function readFilesFinding(lake: string): Promise<unknown> {
  const { stdout } = await run(['doctor', '--json'], { env: { DAYBOOK_LAKE: lake } });
  const findings = JSON.parse(stdout) as { what: string }[];
  return findings.find(({ what }) => what === 'files');
}
