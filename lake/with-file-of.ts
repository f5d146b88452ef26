import { SnapshotDamaged } from './errors.ts';
import type { Lake } from './lake.ts';
import type { Manifest } from './manifest.ts';
import { sha256OfFile } from './read-back.ts';

export type FileOfSnapshot = Manifest['tables'][string]['files'][number];

/** Hands over a file of a snapshot, after it was compared with the manifest. Throws SnapshotDamaged when it is gone, or another one. */
export async function withFileOf<Result>(
  lake: Lake,
  { id, file }: { id: string; file: FileOfSnapshot },
  use: (localPath: string) => Promise<Result>,
): Promise<Result> {
  const used = await lake.withFile(`snapshots/${id}/${file.path}`, async (localPath) =>
    (await sha256OfFile(localPath)) === file.sha256 ? { result: await use(localPath) } : undefined,
  );
  if (used === undefined) throw new SnapshotDamaged(id, file.path);
  return used.result;
}
