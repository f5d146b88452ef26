import { openDuckDb } from '../parquet/duck-db.ts';
import { exactSum } from '../parquet/exact-sum.ts';
import { findDamage, type DamageFound } from './find-damage.ts';
import type { Lake } from '../lake.ts';
import { unfitTableName, type Manifest, type ManifestTable } from '../manifest/manifest.ts';
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
    return { manifest, problems: [...problems, ...differences, ...listedTooOften(manifest)] };
  } finally {
    duckDb.close();
  }
}

/** The manifest lists the first of the values that do not fit. All of them are in a table, which snapshots before 0.6 lack. */
function listedTooOften(manifest: Manifest | undefined): string[] {
  const { rows = Infinity } = manifest?.tables[unfitTableName] ?? {};
  const listed = manifest?.unfit.length ?? 0;
  return listed > rows ? [`unfit lists ${listed} values, and the table ${unfitTableName} has ${rows}`] : [];
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
