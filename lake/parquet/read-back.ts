import type { DuckDBConnection } from '@duckdb/node-api';
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { named, quotedPath, type DuckDb } from './duck-db.ts';
import { parquetRows } from './parquet-rows.ts';
import { piecesOf, withRegularFile } from '../files/regular-file.ts';
import { exactSum } from './exact-sum.ts';

export interface FilesBack {
  /** Types by column. */
  readonly columns: Record<string, string>;
  readonly files: FileBack[];
}

export interface FileBack {
  readonly path: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
  /** The exact sums of all decimal columns. */
  readonly sums: Record<string, string>;
}

/** Reads the actual contents of a table's files, from the first byte to the last. Paths are relative to the folder. */
export async function readBack(
  duckDb: DuckDb,
  { folder, paths }: { folder: string; paths: readonly string[] },
): Promise<FilesBack> {
  const read = await readFiles(
    duckDb,
    paths.map((path) => join(folder, path)),
  );
  const files: FilesBack['files'] = [];
  for (const [index, path] of paths.entries()) {
    const { rows = 0, sums = {} } = read.files[index] ?? {};
    const { size: bytes } = await stat(join(folder, path));
    files.push({ path, rows, bytes, sha256: await sha256OfFile(join(folder, path), bytes), sums });
  }
  return { columns: read.columns, files };
}

/** Hashes a file. Reads at most `expected` bytes plus one; by default, its current size. Throws NoRegularFile. */
export function sha256OfFile(path: string, expected?: number): Promise<string> {
  return withRegularFile(path, async (file, bytes) => {
    const hash = createHash('sha256');
    for await (const piece of piecesOf(file, expected ?? bytes)) hash.update(piece);
    return hash.digest('hex');
  });
}

export interface FilesRead {
  /** Types by column. */
  readonly columns: Record<string, string>;
  /** In the order of the paths: rows, and the exact sums of all decimal columns. */
  readonly files: { rows: number; sums: Record<string, string> }[];
}

/** Decodes every column of Parquet files of one table. */
export async function readFiles(duckDb: DuckDb, paths: readonly string[]): Promise<FilesRead> {
  const connection = await duckDb.connect();
  try {
    const from = parquetRows(paths);
    const described = await connection.runAndReadAll(`describe select * from ${from}`);
    const columns = described.getRows().map(([name, type]) => ({ name: String(name), type: String(type) }));
    const sums = await readSumsByFile(connection, { columns, paths });
    const rows = await connection.runAndReadAll(
      `select file_name, num_rows from parquet_file_metadata([${paths.map(quotedPath).join(', ')}])`,
    );
    const rowsOf = new Map(rows.getRows().map(([file, count]) => [String(file), Number(count)]));
    const decimals = columns.filter(isDecimal).map(({ name }) => name);
    const none = Object.fromEntries(decimals.map((name) => [name, '0']));
    return {
      columns: Object.fromEntries(columns.map(({ name, type }) => [name, type])),
      files: paths.map((path) => ({ rows: rowsOf.get(path) ?? 0, sums: sums.get(path) ?? none })),
    };
  } finally {
    connection.closeSync();
  }
}

interface DescribedColumn {
  readonly name: string;
  readonly type: string;
}

/** Returns the exact sums of all decimal columns, by file, without files that have no rows. Decodes every other column too. */
async function readSumsByFile(
  connection: DuckDBConnection,
  { columns, paths }: { columns: readonly DescribedColumn[]; paths: readonly string[] },
): Promise<Map<string, Record<string, string>>> {
  const decimals = columns.filter(isDecimal).map(({ name }) => name);
  const others = columns.filter((column) => !isDecimal(column)).map(({ name }) => name);
  const figuresOf = async (
    parts: (value: string) => string[],
  ): Promise<Map<string, Record<string, string>>> => {
    const sums = decimals.flatMap((name) => parts(named(name)).map((part) => `sum(${part})::varchar`));
    const counts = others.map((name) => `count(${named(name)})`);
    const read = await connection.runAndReadAll(
      `select filename, ${[...sums, ...counts].join(', ')} from ${parquetRows(paths)} group by filename`,
    );
    const width = sums.length / decimals.length;
    return new Map(
      read.getRows().map(([file, ...values]) => [
        String(file),
        Object.fromEntries(
          decimals.map((name, index) => {
            const found = values.slice(index * width, (index + 1) * width);
            return [name, exactSum(...found.map((value) => (value === null ? '0' : String(value))))];
          }),
        ),
      ]),
    );
  };
  try {
    return await figuresOf((value) => [value]);
  } catch (error) {
    if (!isOverflow(error)) throw error;
    // The sum of values with 29 digits before the point exceeds DuckDB's 38. Summing in parts takes 20 times as long.
    return figuresOf((value) => [`trunc(${value})::hugeint`, `${value} - trunc(${value})`]);
  }
}

function isDecimal({ type }: DescribedColumn): boolean {
  return type.startsWith('DECIMAL');
}

function isOverflow(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Out of Range Error');
}
