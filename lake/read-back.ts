import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { named, quoted, type DuckDb } from './duck-db.ts';
import { exactSum } from './exact-sum.ts';
import type { ManifestTable } from './manifest.ts';

/** What the files of a table really hold, read from the first byte to the last. */
export async function readBack(
  duckDb: DuckDb,
  { folder, table }: { folder: string; table: string },
): Promise<ManifestTable> {
  const paths = (await readdir(join(folder, table))).sort().map((name) => `${table}/${name}`);
  const { columns, sums, rowsOfFiles } = await readFiles(
    duckDb,
    paths.map((path) => join(folder, path)),
  );
  const files = await Promise.all(
    paths.map(async (path, index) => ({
      path,
      rows: rowsOfFiles[index] ?? 0,
      bytes: (await stat(join(folder, path))).size,
      sha256: await sha256OfFile(join(folder, path)),
    })),
  );
  return {
    rows: files.reduce((sum, { rows }) => sum + rows, 0),
    bytes: files.reduce((sum, { bytes }) => sum + bytes, 0),
    ...{ columns, sums, files },
  };
}

export async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

export interface FilesRead {
  /** Types by column. */
  readonly columns: Record<string, string>;
  /** Of every decimal column, exactly. */
  readonly sums: Record<string, string>;
  /** In the order of the paths. */
  readonly rowsOfFiles: number[];
}

/** Decodes every column of Parquet files that belong together. */
export async function readFiles(duckDb: DuckDb, paths: readonly string[]): Promise<FilesRead> {
  const connection = await duckDb.connect();
  try {
    const files = `[${paths.map(quoted).join(', ')}]`;
    const described = await connection.runAndReadAll(`describe select * from read_parquet(${files})`);
    const columns = described.getRows().map(([name, type]) => ({ name: String(name), type: String(type) }));
    const figures = columns.flatMap(({ name, type }) =>
      type.startsWith('DECIMAL') ? partsOfSum(name) : [`count(${named(name)})`],
    );
    const read = await connection.runAndReadAll(
      `select ${[...figures, 'count(*)'].join(', ')} from read_parquet(${files})`,
    );
    const rows = await connection.runAndReadAll(
      `select file_name, num_rows from parquet_file_metadata(${files})`,
    );
    const values = read.getRows()[0]?.map(String) ?? [];
    const rowsOf = new Map(rows.getRows().map(([file, count]) => [String(file), Number(count)]));
    return {
      columns: Object.fromEntries(columns.map(({ name, type }) => [name, type])),
      sums: sumsFrom(columns, values),
      rowsOfFiles: paths.map((path) => rowsOf.get(path) ?? 0),
    };
  } finally {
    connection.closeSync();
  }
}

/** In two parts: the sum of values with 29 digits before the point has more than the 38 that DuckDB knows. */
function partsOfSum(name: string): string[] {
  const value = named(name);
  return [
    `coalesce(sum(trunc(${value})::hugeint), 0)::varchar`,
    `coalesce(sum(${value} - trunc(${value})), 0)::varchar`,
  ];
}

function sumsFrom(
  columns: readonly { name: string; type: string }[],
  values: readonly string[],
): Record<string, string> {
  const sums: Record<string, string> = {};
  let next = 0;
  for (const { name, type } of columns) {
    const isDecimal = type.startsWith('DECIMAL');
    if (isDecimal) sums[name] = exactSum(values[next] ?? '0', values[next + 1] ?? '0');
    next += isDecimal ? 2 : 1;
  }
  return sums;
}
