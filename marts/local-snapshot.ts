import { copyFile, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { openDuckDb } from '../lake/parquet/duck-db.ts';
import { SnapshotDamaged } from '../lake/errors.ts';
import { manifestFile, type Lake } from '../lake/lake.ts';
import { isBucket } from '../lake/location.ts';
import { sha256Of } from '../lake/manifest/manifest.ts';
import { findManifest, readPointer } from '../lake/manifest/pointer.ts';
import { withSnapshotFile } from '../lake/snapshots/with-snapshot-file.ts';
import { NoSnapshot } from './errors.ts';

export interface LocalSnapshot {
  readonly id: string;
  readonly takenAt: string;
  readonly manifestSha256: string;
  /** A folder on this machine, with the files of every table and the manifest. */
  readonly folder: string;
}

/**
 * Provides the latest snapshot as a folder in `scratch`: the files that its manifest names, each compared with it, and no other files from that
 * place. Files of a bucket are downloaded, others are links. Throws NoSnapshot, SnapshotDamaged, LakeAltered.
 */
export async function localSnapshot(lake: Lake, scratch: string): Promise<LocalSnapshot> {
  const pointer = await readPointer(lake);
  if (pointer === undefined) throw new NoSnapshot(lake.location);
  const id = pointer.snapshot_id;
  const manifest = await findManifest(lake, id);
  if (manifest === undefined || sha256Of(manifest.found.text) !== pointer.manifest_sha256)
    throw new SnapshotDamaged(id, manifestFile);
  const files = Object.values(manifest.value.tables).flatMap((table) => table.files);
  const folder = join(scratch, 'snapshot');
  const isHere = !isBucket(lake.location);
  const duckDb = await openDuckDb({ spillFolder: scratch });
  try {
    for (const file of files) {
      const use = async (path: string): Promise<void> => {
        const place = join(folder, file.path);
        await mkdir(dirname(place), { recursive: true, mode: 0o700 });
        await (isHere ? symlink(resolve(path), place) : copyFile(path, place));
      };
      await withSnapshotFile(lake, duckDb, { id, file, use });
    }
  } finally {
    duckDb.close();
  }
  await writeFile(join(folder, manifestFile), manifest.found.text);
  return { id, takenAt: manifest.value.taken_at, manifestSha256: pointer.manifest_sha256, folder };
}
