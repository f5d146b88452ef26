import { constants, existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * The folder, where every user can get at it; otherwise (below `/root`, say) the copy, which is made when it is missing. Its name
 * has to tell it from those of other contents.
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
    if (!existsSync(copy)) throw error; // Otherwise another process has made it meanwhile.
  }
  return copy;
}

/** Whether every user can get to the folder and to what it holds, however that is closed itself. */
export async function isReachable(folder: string): Promise<boolean> {
  if (((await stat(folder)).mode & constants.S_IXOTH) === 0) return false;
  return dirname(folder) === folder || isReachable(dirname(folder));
}
