import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { MartsTarget } from '../warehouse/tables/marts.ts';

/** The folder that dbt reads and writes for builds of a target. */
export function buildFolder(home: string, target: MartsTarget): string {
  return join(home, 'dbt', target);
}

/** The folder for a snapshot and the marts made from it, during a build. */
export function buildScratch(home: string): string {
  return join(buildFolder(home, 'lake'), 'scratch');
}

/** Removes leftovers of killed builds, including those of release 0.5. Only while no build runs. */
export async function removeLeftovers(home: string): Promise<void> {
  const folder = buildFolder(home, 'lake');
  const names = await readdir(folder).catch(() => []);
  const before = names.filter((name) => /^build-\d+$/.test(name)).map((name) => join(folder, name));
  for (const path of [buildScratch(home), join(home, 'dbt', 'snapshots'), ...before])
    await rm(path, { recursive: true, force: true });
}

/** Removes everything that builds of a target write beside the seeds; the next build recreates it. Only while no build runs. */
export async function clearBuilds(home: string, target: MartsTarget): Promise<void> {
  if (target === 'lake') await removeLeftovers(home);
  await rm(buildFolder(home, target), { recursive: true, force: true });
}

/** Removes the generated lists of vendors and accounts to fill in. The user's own files stay. */
export async function clearTemplates(seedsFolder: string): Promise<void> {
  const names = await readdir(seedsFolder).catch(() => []);
  for (const name of names.filter((one) => /^\.?[a-z_]+\.template\.(csv|\d+)$/.test(one)))
    await rm(join(seedsFolder, name), { force: true });
}
