import { mkdir, statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { ClientBase } from 'pg';
import { codeOf } from '../../errors/code-of.ts';
import { DiskFull, LakeRefused } from '../../lake/errors.ts';
import type { Manifest } from '../../lake/manifest/manifest.ts';
import { readTableBytes } from '../../warehouse/snapshots/read-context.ts';
import type { TablePlanned } from './plan-parts.ts';

/**
 * Lets `write` fill the folder of a draft. Throws DiskFull: before the first byte if the draft surely would not fit, or when a disk is full
 * nevertheless.
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
 * The bytes of the last snapshot plus a tenth, without the files that are reused from `base`; before the first snapshot, a quarter of the
 * size in Postgres (measured: a sixth).
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

/** DuckDB cannot spill to the disk either: it leaves a tenth of the disk free. */
function isSpillFull(error: unknown): boolean {
  return error instanceof Error && /max_temp_directory_size|duckdb_temp_storage/.test(error.message);
}

/** DuckDB passes on the operating system's message. */
function isDiskFull(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  return codeOf(error) === 'ENOSPC' || error.message.includes('No space left on device');
}
