import { mkdir, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ClientBase } from 'pg';
import { codeOf } from '../../errors/code-of.ts';
import { DiskFull, LakeRefused } from '../../lake/errors.ts';
import type { Manifest } from '../../lake/manifest/manifest.ts';
import { readTableBytes } from '../../warehouse/snapshots/read-context.ts';
import type { TablePlanned } from './plan-parts.ts';

/**
 * Lets `write` fill the folder of a draft. Throws DiskFull: before the first byte where the draft would surely not fit, or when a disk is
 * full all the same.
 */
export async function withRoom<Result>(
  { folder, scratch, neededBytes }: { folder: string; scratch: string; neededBytes: number },
  write: () => Promise<Result>,
): Promise<Result> {
  const place = dirname(folder);
  const fullDisk = (full: string): DiskFull =>
    new DiskFull(full, { neededBytes, setting: full.startsWith(scratch) ? 'DAYBOOK_HOME' : 'DAYBOOK_LAKE' });
  await mkdir(place, { recursive: true }).catch((error: unknown) => {
    throw new LakeRefused(dirname(place), String(codeOf(error) ?? error), error);
  });
  const { bavail, bsize } = await statfs(place);
  if (bavail * bsize < neededBytes) throw fullDisk(place);
  try {
    return await write();
  } catch (error) {
    if (isSpillFull(error)) throw fullDisk(scratch);
    throw isDiskFull(error) ? fullDisk(place) : error;
  }
}

/**
 * As many as the last snapshot took and a tenth more, without the files that the new one has of `base`; before the first, a quarter of what
 * Postgres takes (measured: a sixth).
 */
export async function bytesNeeded(
  client: ClientBase,
  input: { planned: readonly TablePlanned[]; base: Manifest | undefined; current: Manifest | undefined },
): Promise<number> {
  const { planned, base, current } = input;
  if (current === undefined) return Math.ceil((await readTableBytes(client)) / 4);
  const contents = new Set(planned.flatMap(({ parts }) => parts.map(({ content }) => content)));
  const kept = Object.values(base?.tables ?? {})
    .flatMap(({ files }) => files)
    .filter(({ content }) => content !== undefined && contents.has(content));
  return Math.ceil((current.bytes - kept.reduce((sum, { bytes }) => sum + bytes, 0)) * 1.1);
}

/** What does not fit into memory has no room on the disk either: DuckDB leaves a tenth of it alone. */
function isSpillFull(error: unknown): boolean {
  return error instanceof Error && /max_temp_directory_size|duckdb_temp_storage/.test(error.message);
}

/** DuckDB says it in the words of the system. */
function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return codeOf(error) === 'ENOSPC' || error.message.includes('No space left on device');
}
