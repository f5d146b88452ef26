import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { MartsTarget } from '../warehouse/tables/marts.ts';

/** Where the builds of a target keep what dbt reads and writes. */
export function buildFolder(home: string, target: MartsTarget): string {
  return join(home, 'dbt', target);
}

/** For a snapshot and the marts that are made of it, while a build lasts. */
export function buildScratch(home: string): string {
  return join(buildFolder(home, 'lake'), 'scratch');
}

/** What builds that were killed left, those of release 0.5 too. Only while no build runs. */
export async function removeLeftovers(home: string): Promise<void> {
  const folder = buildFolder(home, 'lake');
  const names = await readdir(folder).catch(() => []);
  const before = names.filter((name) => /^build-\d+$/.test(name)).map((name) => join(folder, name));
  for (const path of [buildScratch(home), join(home, 'dbt', 'snapshots'), ...before])
    await rm(path, { recursive: true, force: true });
}

/** Everything that builds of a target write beside the seeds, which the next one makes anew. Only while no build runs. */
export async function clearBuilds(home: string, target: MartsTarget): Promise<void> {
  if (target === 'lake') await removeLeftovers(home);
  await rm(buildFolder(home, target), { recursive: true, force: true });
}

/** Lists of vendors and accounts that were written for the user to fill in. What the user wrote stays. */
export async function clearTemplates(seedsFolder: string): Promise<void> {
  const names = await readdir(seedsFolder).catch(() => []);
  for (const name of names.filter((one) => /^\.?[a-z_]+\.template\.(csv|\d+)$/.test(one)))
    await rm(join(seedsFolder, name), { force: true });
}
