import { stat } from 'node:fs/promises';
import { isReachable } from '../../embedded/open-to-others.ts';

/** Returns the existing folders that every user of the machine can reach and list or write to. */
export async function openToEverybody(folders: readonly string[]): Promise<string[]> {
  const open: string[] = [];
  for (const folder of folders) {
    const found = await stat(folder).catch(() => undefined);
    if (found !== undefined && (found.mode & 0o006) !== 0 && (await isReachable(folder))) open.push(folder);
  }
  return open;
}
