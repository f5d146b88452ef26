import { constants, existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Returns the folder if every user can reach it. Otherwise (below `/root`, for example) returns the copy, and creates it if needed. The name
 * of the copy has to be unique to its content.
 */
export async function openToOthers(folder: string, copy: string): Promise<string> {
  if (await isReachable(folder)) return folder;
  if (existsSync(copy)) return copy;
  await mkdir(dirname(copy), { recursive: true });
  await chmod(dirname(copy), 0o755);
  const draft = await mkdtemp(`${copy}-`);
  try {
    await cp(folder, draft, { recursive: true, verbatimSymlinks: true });
    await chmod(draft, 0o755);
    await rename(draft, copy);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!existsSync(copy)) throw error; // Otherwise another process has created it meanwhile.
  }
  return copy;
}

/** Whether every user can reach the folder and its entries, regardless of the entries' own permissions. */
export async function isReachable(folder: string): Promise<boolean> {
  if (((await stat(folder)).mode & constants.S_IXOTH) === 0) return false;
  return dirname(folder) === folder || isReachable(dirname(folder));
}
