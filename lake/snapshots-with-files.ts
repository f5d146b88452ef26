import { LakeRefused } from './errors.ts';
import { mapAtOnce } from './map-at-once.ts';
import type { Lake } from './lake.ts';

/** Those of which the lake has any file, also such as are not complete: readers of single files find what is in them. */
export async function snapshotsWithFiles(lake: Lake, ids: readonly string[]): Promise<string[]> {
  const haveFiles = await mapAtOnce(8, ids, (id) => hasFiles(lake, id));
  return ids.filter((_, place) => haveFiles[place]);
}

async function hasFiles(lake: Lake, id: string): Promise<boolean> {
  try {
    return (await lake.filesIn(`snapshots/${id}`)).length > 0;
  } catch (error) {
    // Something else stands in the place of its folder.
    if (error instanceof LakeRefused) return true;
    throw error;
  }
}
