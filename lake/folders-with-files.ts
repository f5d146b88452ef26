import { LakeRefused } from './errors.ts';
import { mapAtOnce } from './map-at-once.ts';
import type { Lake } from './lake.ts';

/** Those of which the lake has any file, also such as are not complete: readers of single files find what is in them. */
export async function snapshotsWithFiles(lake: Lake, ids: readonly string[]): Promise<string[]> {
  const folders = await foldersWithFiles(
    lake,
    ids.map((id) => `snapshots/${id}`),
  );
  return ids.filter((id) => folders.includes(`snapshots/${id}`));
}

export async function foldersWithFiles(lake: Lake, folders: readonly string[]): Promise<string[]> {
  const haveFiles = await mapAtOnce(8, folders, (folder) => hasFiles(lake, folder));
  return folders.filter((_, place) => haveFiles[place]);
}

async function hasFiles(lake: Lake, folder: string): Promise<boolean> {
  try {
    return (await lake.filesIn(folder)).length > 0;
  } catch (error) {
    // Something else stands in the place of the folder.
    if (error instanceof LakeRefused) return true;
    throw error;
  }
}
