import { openDuckDb } from '../parquet/duck-db.ts';
import { exactSum } from '../parquet/exact-sum.ts';
import { findDamage, type DamageFound } from './find-damage.ts';
import type { Lake } from '../lake.ts';
import type { ManifestTable } from '../manifest/manifest.ts';
import { hasRows } from '../parquet/has-rows.ts';
import { readFiles, type FilesRead } from '../parquet/read-back.ts';
import { tableDifferences } from '../parquet/table-differences.ts';

/** Reads every file of a snapshot again and compares it with the manifest: SHA-256, rows, sums, types. */
export async function verifySnapshot(
  lake: Lake,
  { id, spillFolder }: { id: string; spillFolder: string },
): Promise<DamageFound> {
  const read = new Map<string, FilesRead[]>();
  const duckDb = await openDuckDb({ spillFolder });
  try {
    const { manifest, problems } = await findDamage(lake, id, async (table, { rows }, localPath) => {
      if (!(await hasRows(duckDb, localPath, rows))) return 'has another number of rows';
      read.set(table, [...(read.get(table) ?? []), await readFiles(duckDb, [localPath])]);
      return null;
    });
    const differences = Object.entries(manifest?.tables ?? {}).flatMap(([name, table]) => {
      const files = read.get(name) ?? [];
      // Missing files are reported already.
      return files.length < table.files.length ? [] : tableDifferences(name, table, seenIn(files, table));
    });
    return { manifest, problems: [...problems, ...differences] };
  } finally {
    duckDb.close();
  }
}

function seenIn(
  read: readonly FilesRead[],
  { sums }: ManifestTable,
): Pick<ManifestTable, 'rows' | 'columns' | 'sums'> {
  const files = read.flatMap((one) => one.files);
  return {
    rows: files.reduce((sum, { rows }) => sum + rows, 0),
    columns: Object.assign({}, ...read.map(({ columns }) => columns)) as Record<string, string>,
    sums: Object.fromEntries(
      Object.keys(sums).map((column) => [column, exactSum(...files.map((file) => file.sums[column] ?? '0'))]),
    ),
  };
}
