import { existsSync } from 'node:fs';
import { copyFile, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { manifestFile, type Lake } from '../lake/lake.ts';
import { parseManifest, sha256Of, type Manifest } from '../lake/manifest.ts';
import { readPointer } from '../lake/pointer.ts';
import { sha256OfFile } from '../lake/read-back.ts';
import { NoSnapshot, SnapshotDamaged } from './errors.ts';

export interface LocalSnapshot {
  readonly id: string;
  /** On this machine, with the files of every table and the manifest. */
  readonly folder: string;
}

/**
 * The latest snapshot as a folder on this machine, every file compared with the manifest. One in a bucket is downloaded into
 * `cache`, which keeps the last one. Throws NoSnapshot, SnapshotDamaged.
 */
export async function localSnapshot(lake: Lake, cache: string): Promise<LocalSnapshot> {
  const pointer = await readPointer(lake);
  if (pointer === undefined) throw new NoSnapshot(lake.location);
  const id = pointer.snapshot_id;
  const manifest = await lake.read(pointer.manifest);
  if (manifest === undefined || sha256Of(manifest.text) !== pointer.manifest_sha256)
    throw new SnapshotDamaged(id, manifestFile);
  const files = filesOf(parseManifest(manifest.text));
  if (!lake.location.startsWith('s3://')) {
    for (const file of files) await verified(lake, id, file, () => Promise.resolve());
    return { id, folder: join(lake.location, 'snapshots', id) };
  }
  const folder = join(cache, id);
  if (!existsSync(folder)) await download(lake, { id, files, manifest: manifest.text, folder });
  for (const other of await readdir(cache))
    if (other !== id) await rm(join(cache, other), { recursive: true, force: true });
  return { id, folder };
}

type File = Manifest['tables'][string]['files'][number];

function filesOf(manifest: Manifest): File[] {
  return Object.values(manifest.tables).flatMap(({ files }) => files);
}

/** The folder appears when it is complete. */
async function download(
  lake: Lake,
  { id, files, manifest, folder }: { id: string; files: File[]; manifest: string; folder: string },
): Promise<void> {
  const draft = `${folder}.${process.pid}`;
  await mkdir(draft, { recursive: true, mode: 0o700 });
  for (const file of files) {
    await verified(lake, id, file, async (path) => {
      await mkdir(dirname(join(draft, file.path)), { recursive: true });
      await copyFile(path, join(draft, file.path));
    });
  }
  await writeFile(join(draft, manifestFile), manifest);
  await rename(draft, folder);
}

/** Throws SnapshotDamaged when the file is not there, or another one. */
async function verified(
  lake: Lake,
  id: string,
  file: File,
  use: (path: string) => Promise<void>,
): Promise<void> {
  const whole = await lake.withFile(`snapshots/${id}/${file.path}`, async (path) => {
    if ((await sha256OfFile(path)) !== file.sha256) return false;
    await use(path);
    return true;
  });
  if (whole !== true) throw new SnapshotDamaged(id, file.path);
}
