import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { dbtProject } from './dbt-project.ts';
import { unguarded } from './formula-guard.ts';

/**
 * A copy of the dbt project with the user's seeds in it. A copy, because dbt writes beside what it reads: given a folder of seeds
 * outside of its project it overwrites the seeds. Those the user does not have yet are made, empty but for their header.
 * Unit tests are left out: what they find depends on nothing of the user's, and reading them takes dbt a second of each build.
 */
export async function prepareProject(input: { seedsFolder: string; project: string }): Promise<void> {
  const { seedsFolder, project } = input;
  await rm(project, { recursive: true, force: true });
  await cp(dbtProject, project, {
    recursive: true,
    filter: (path) => !basename(path).startsWith('_unit_tests') && !isSeed(path),
  });
  await chmod(project, 0o700);
  await mkdir(seedsFolder, { recursive: true, mode: 0o700 });
  for (const seed of (await readdir(join(dbtProject, 'seeds'))).filter(isSeed)) {
    const users = join(seedsFolder, seed);
    // Written, not copied: a copy has the mode of our file, which everybody may read.
    if (!existsSync(users)) await writeFile(users, await readFile(join(dbtProject, 'seeds', seed)));
    await writeFile(join(project, 'seeds', seed), unguarded(await readFile(users, 'utf8')));
  }
}

function isSeed(path: string): boolean {
  return path.endsWith('.csv');
}
