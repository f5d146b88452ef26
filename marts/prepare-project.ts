import { chmod, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createFile } from './create-file.ts';
import { dbtProject } from './dbt-project.ts';
import { unguarded } from './formula-guard.ts';

/**
 * Copies the dbt project with the user's seeds in it. A copy, because dbt writes beside its input: given a folder of seeds outside of its
 * project it overwrites the seeds. Seeds that the user lacks are created with their header only. Unit tests are left out: their results do not
 * depend on the user's data, and parsing them takes a second of each build.
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
    const header = await readFile(join(dbtProject, 'seeds', seed), 'utf8');
    // Written, not copied: a copy would have the mode of our file, which is world-readable.
    await createFile(users, header);
    const text = await readFile(users, 'utf8');
    // dbt would turn an empty seed into a table without columns.
    await writeFile(join(project, 'seeds', seed), text.trim() === '' ? header : unguarded(text));
  }
}

function isSeed(path: string): boolean {
  return path.endsWith('.csv');
}
