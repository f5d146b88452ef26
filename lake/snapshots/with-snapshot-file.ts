import type { DuckDb } from '../parquet/duck-db.ts';
import { SnapshotDamaged } from '../errors.ts';
import type { Lake } from '../lake.ts';
import type { Manifest } from '../manifest/manifest.ts';
import { sha256OfFile } from '../parquet/read-back.ts';
import { hasRows } from '../parquet/has-rows.ts';

export type FileOfSnapshot = Manifest['tables'][string]['files'][number];

/**
 * Passes on a file of a snapshot, after comparing its size, SHA-256 and rows with the manifest. Throws SnapshotDamaged if it is gone or
 * differs.
 */
export async function withSnapshotFile<Result>(
  lake: Lake,
  duckDb: DuckDb,
  { id, file, use }: { id: string; file: FileOfSnapshot; use: (localPath: string) => Promise<Result> },
): Promise<Result> {
  const { bytes, sha256, rows } = file;
  const used = await lake.withFile({ path: `snapshots/${id}/${file.path}`, bytes }, async (localPath) =>
    (await sha256OfFile(localPath, bytes)) === sha256 &&
    // A file with the right hash may still not be Parquet.
    (await hasRows(duckDb, localPath, rows).catch(() => false))
      ? { result: await use(localPath) }
      : undefined,
  );
  if (used.problem === 'may not be read') throw new SnapshotDamaged(id, file.path, used.problem);
  if (used.problem !== undefined || used.result === undefined) throw new SnapshotDamaged(id, file.path);
  return used.result.result;
}
