import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SnapshotDamaged } from '../lake/errors.ts';
import { manifestFile, type Lake } from '../lake/lake.ts';
import { sha256Of } from '../lake/manifest.ts';
import { findManifest, readPointer } from '../lake/pointer.ts';
import { withFileOf } from '../lake/with-file-of.ts';
import { NoSnapshot } from './errors.ts';

export interface LocalSnapshot {
  readonly id: string;
  /** On this machine, with the files of every table and the manifest. */
  readonly folder: string;
}

/**
 * The latest snapshot as a folder on this machine, every file compared with the manifest. One in a bucket is downloaded into
 * `scratch`. Throws NoSnapshot, SnapshotDamaged, LakeAltered.
 */
export async function localSnapshot(lake: Lake, scratch: string): Promise<LocalSnapshot> {
  const pointer = await readPointer(lake);
  if (pointer === undefined) throw new NoSnapshot(lake.location);
  const id = pointer.snapshot_id;
  const manifest = await findManifest(lake, id);
  if (manifest === undefined || sha256Of(manifest.found.text) !== pointer.manifest_sha256)
    throw new SnapshotDamaged(id, manifestFile);
  const files = Object.values(manifest.value.tables).flatMap((table) => table.files);
  if (!lake.location.startsWith('s3://')) {
    for (const file of files) await withFileOf(lake, { id, file }, () => Promise.resolve());
    return { id, folder: join(lake.location, 'snapshots', id) };
  }
  const folder = join(scratch, 'snapshot');
  for (const file of files) {
    await withFileOf(lake, { id, file }, async (path) => {
      await mkdir(dirname(join(folder, file.path)), { recursive: true, mode: 0o700 });
      await copyFile(path, join(folder, file.path));
    });
  }
  await writeFile(join(folder, manifestFile), manifest.found.text);
  return { id, folder };
}
