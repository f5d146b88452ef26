import { openDuckDb, type DuckDb } from './duck-db.ts';
import { LakeAltered } from './errors.ts';
import { exactSum } from './exact-sum.ts';
import { manifestFile, successFile, type Lake } from './lake.ts';
import { sha256Of, type Manifest, type ManifestTable } from './manifest.ts';
import { findManifest, readPointer } from './pointer.ts';
import { readFiles, sha256OfFile, type FilesRead } from './read-back.ts';
import { tableDifferences } from './table-differences.ts';

export interface SnapshotVerified {
  /** Undefined when there is no readable one. */
  readonly manifest: Manifest | undefined;
  /** In words; none when the snapshot is whole. */
  readonly problems: readonly string[];
}

/** Reads every file of a snapshot again and compares it with the manifest: SHA-256, rows, sums, types. */
export async function verifySnapshot(
  lake: Lake,
  { id, spillFolder }: { id: string; spillFolder: string },
): Promise<SnapshotVerified> {
  const read = await readOrAltered(lake, id);
  if (read === undefined) return { manifest: undefined, problems: [`${id} has no ${manifestFile}`] };
  if (read instanceof LakeAltered) return { manifest: undefined, problems: [read.message] };
  const { found, value: manifest } = read;
  const problems = await problemsAround(lake, { id, text: found.text });
  const duckDb = await openDuckDb({ spillFolder });
  try {
    for (const [name, table] of Object.entries(manifest.tables))
      problems.push(...(await problemsOf(duckDb, lake, { id, name, table })));
  } finally {
    duckDb.close();
  }
  return { manifest, problems };
}

async function readOrAltered(
  lake: Lake,
  id: string,
): Promise<Awaited<ReturnType<typeof findManifest>> | LakeAltered> {
  try {
    return await findManifest(lake, id);
  } catch (error) {
    if (error instanceof LakeAltered) return error;
    throw error;
  }
}

async function problemsAround(lake: Lake, { id, text }: { id: string; text: string }): Promise<string[]> {
  const success = await lake.read(`snapshots/${id}/${successFile}`);
  const pointer = await readPointer(lake);
  const isOther = pointer?.snapshot_id === id && pointer.manifest_sha256 !== sha256Of(text);
  return [
    ...(success === undefined ? [`${id} has no ${successFile}`] : []),
    ...(isOther ? [`latest.json names another content of ${manifestFile}`] : []),
  ];
}

async function problemsOf(
  duckDb: DuckDb,
  lake: Lake,
  { id, name, table }: { id: string; name: string; table: ManifestTable },
): Promise<string[]> {
  const read: FilesRead[] = [];
  const problems: string[] = [];
  for (const file of table.files) {
    const result = await lake.withFile(`snapshots/${id}/${file.path}`, async (path) => {
      // A file that is another one is not even opened.
      if ((await sha256OfFile(path)) !== file.sha256) return `${file.path} has another SHA-256`;
      read.push(await readFiles(duckDb, [path]));
      return null;
    });
    if (result === undefined) problems.push(`${file.path} is missing`);
    else if (result !== null) problems.push(result);
  }
  if (problems.length > 0) return problems;
  const seen = {
    rows: read.flatMap(({ rowsOfFiles }) => rowsOfFiles).reduce((sum, rows) => sum + rows, 0),
    columns: Object.assign({}, ...read.map(({ columns }) => columns)) as Record<string, string>,
    sums: Object.fromEntries(
      Object.keys(table.sums).map((column) => [
        column,
        exactSum(...read.map(({ sums }) => sums[column] ?? '0')),
      ]),
    ),
  };
  return tableDifferences(name, table, seen);
}
