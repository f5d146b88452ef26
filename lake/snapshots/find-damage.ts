import { ListTooLong } from '../errors.ts';
import { manifestFile, successFile, type Lake } from '../lake.ts';
import { isBucket } from '../location.ts';
import { mapConcurrently } from '../map-concurrently.ts';
import { sha256Of, type Manifest } from '../manifest/manifest.ts';
import { lookAtManifest, lookAtPointer, pointerPath } from '../manifest/pointer.ts';
import { sha256OfFile } from '../parquet/read-back.ts';
import type { FileOfSnapshot } from './with-snapshot-file.ts';

export interface DamageFound {
  /** Undefined if there is no readable one. */
  readonly manifest: Manifest | undefined;
  /** In words; empty if every file is as published. */
  readonly problems: readonly string[];
}

/** The problem with a file, in words; null if there is none. */
export type Problem = string | null;

/** What else is checked about each intact file, on this machine. */
export type Look = (table: string, file: FileOfSnapshot, localPath: string) => Promise<Problem>;

/** Several files at once: a snapshot has thousands of small ones, and each is waited for a few times. */
const filesAtOnce = 8;

/**
 * Compares every file of a snapshot with the manifest, by its size and SHA-256, and the manifest with the pointer. An altered file is not given
 * to `look`, which gets one file after another.
 */
export async function findDamage(lake: Lake, id: string, look?: Look): Promise<DamageFound> {
  const seen = await lookAtManifest(lake, id);
  if (seen === undefined) return { manifest: undefined, problems: [`${id} has no ${manifestFile}`] };
  if (seen.altered !== undefined) return { manifest: undefined, problems: [seen.altered.message] };
  const manifest = seen.value;
  const problems = [
    ...(await problemsAround(lake, { id, text: seen.found.text })),
    ...(await problemsBeside(lake, manifest)),
  ];
  const listed = Object.entries(manifest.tables).flatMap(([table, { files }]) =>
    files.map((file) => ({ table, file })),
  );
  const seenIn = await mapConcurrently(
    look === undefined ? filesAtOnce : 1,
    listed,
    async ({ table, file }) => {
      const { path, bytes, sha256 } = file;
      const used = await lake.withFile({ path: `snapshots/${id}/${path}`, bytes }, async (localPath) => {
        if ((await sha256OfFile(localPath, bytes)) !== sha256) return 'has another SHA-256';
        return look === undefined ? null : look(table, file, localPath);
      });
      const problem = used.problem ?? used.result;
      return problem === null ? [] : [`${path} ${problem}`];
    },
  );
  return { manifest, problems: [...problems, ...seenIn.flat()] };
}

async function problemsBeside(lake: Lake, manifest: Manifest): Promise<string[]> {
  const paths = await filesBeside(lake, manifest);
  return paths === 'too many'
    ? ['more files are not in the manifest than can be listed']
    : paths.map((path) => `${path} is not in the manifest`);
}

/**
 * Lists files that the manifest does not list. Readers that use a pattern such as `bills/*.parquet` would read them too, and perhaps files in a
 * folder that Daybook may not open. Anyone with write access to a bucket may put millions there.
 */
export async function filesBeside(
  lake: Lake,
  { snapshot_id: id, tables }: Manifest,
): Promise<string[] | 'too many'> {
  const listed = new Set(Object.values(tables).flatMap(({ files }) => files.map(({ path }) => path)));
  // In a bucket an object of such a name is a program's marker for a folder, and holds nothing.
  const isClosed = (path: string): boolean => path.endsWith('/') && !isBucket(lake.location);
  const isBeside = (path: string): boolean =>
    (path.endsWith('.parquet') || isClosed(path)) && !listed.has(path);
  try {
    return (await lake.filesIn(`snapshots/${id}`, isBeside)).sort();
  } catch (error) {
    if (error instanceof ListTooLong) return 'too many';
    throw error;
  }
}

async function problemsAround(lake: Lake, { id, text }: { id: string; text: string }): Promise<string[]> {
  const success = await lake.read(`snapshots/${id}/${successFile}`);
  const pointer = (await lookAtPointer(lake))?.value;
  const isOther = pointer?.snapshot_id === id && pointer.manifest_sha256 !== sha256Of(text);
  return [
    ...(success === undefined ? [`${id} has no ${successFile}`] : []),
    ...(isOther ? [`${pointerPath} names another content of ${manifestFile}`] : []),
  ];
}
