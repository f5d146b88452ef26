import type { DuckDBConnection } from '@duckdb/node-api';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { named, quoted, type DuckDb } from './duck-db.ts';
import { parquetRows } from './parquet-rows.ts';
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
    columns,
    sums,
    files,
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
    const from = parquetRows(paths);
    const described = await connection.runAndReadAll(`describe select * from ${from}`);
    const columns = described.getRows().map(([name, type]) => ({ name: String(name), type: String(type) }));
    const sums = await sumsOf(connection, { columns, from });
    const rows = await connection.runAndReadAll(
      `select file_name, num_rows from parquet_file_metadata(${files})`,
    );
    const rowsOf = new Map(rows.getRows().map(([file, count]) => [String(file), Number(count)]));
    return {
      columns: Object.fromEntries(columns.map(({ name, type }) => [name, type])),
      sums,
      rowsOfFiles: paths.map((path) => rowsOf.get(path) ?? 0),
    };
  } finally {
    connection.closeSync();
  }
}

/** Of every decimal column, exactly. Every other column is decoded too. */
async function sumsOf(
  connection: DuckDBConnection,
  { columns, from }: { columns: readonly { name: string; type: string }[]; from: string },
): Promise<Record<string, string>> {
  const decimals = columns.filter(({ type }) => type.startsWith('DECIMAL')).map(({ name }) => name);
  const others = columns.filter(({ name }) => !decimals.includes(name)).map(({ name }) => name);
  const figuresOf = async (parts: (value: string) => string[]): Promise<Record<string, string>> => {
    const sums = decimals.flatMap((name) =>
      parts(named(name)).map((part) => `coalesce(sum(${part}), 0)::varchar`),
    );
    const counts = others.map((name) => `count(${named(name)})`);
    const read = await connection.runAndReadAll(`select ${[...sums, ...counts].join(', ')} from ${from}`);
    const values = read.getRows()[0]?.map(String) ?? [];
    const width = sums.length / decimals.length;
    return Object.fromEntries(
      decimals.map((name, index) => [name, exactSum(...values.slice(index * width, (index + 1) * width))]),
    );
  };
  try {
    return await figuresOf((value) => [value]);
  } catch (error) {
    if (!isOverflow(error)) throw error;
    // The sum of values with 29 digits before the point has more than the 38 that DuckDB knows. Parts take 20 times as long.
    return figuresOf((value) => [`trunc(${value})::hugeint`, `${value} - trunc(${value})`]);
  }
}

function isOverflow(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Out of Range Error');
}
