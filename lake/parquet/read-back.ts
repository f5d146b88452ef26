import type { DuckDBConnection } from '@duckdb/node-api';
import { createHash } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { named, type DuckDb } from './duck-db.ts';
import { parquetRows } from './parquet-rows.ts';
import { readPieces, withRegularFile } from '../files/regular-file.ts';
import { exactSum } from './exact-sum.ts';

export interface FilesBack {
  /** Types by column. */
  readonly columns: Record<string, string>;
  readonly files: FileBack[];
}

export interface FileBack extends Figures {
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
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
    for await (const piece of readPieces(file, expected ?? bytes)) hash.update(piece);
    return hash.digest('hex');
  });
}

export interface FilesRead {
  /** Types by column. */
  readonly columns: Record<string, string>;
  /** In the order of the paths. */
  readonly files: Figures[];
}

interface Figures {
  readonly rows: number;
  /** The exact sums of all decimal columns. */
  readonly sums: Record<string, string>;
}

/** Decodes every column of Parquet files of one table. */
export async function readFiles(duckDb: DuckDb, paths: readonly string[]): Promise<FilesRead> {
  const connection = await duckDb.connect();
  try {
    const from = parquetRows(paths);
    const described = await connection.runAndReadAll(`describe select * from ${from}`);
    const columns = described.getRows().map(([name, type]) => ({ name: String(name), type: String(type) }));
    const figures = await readFigures(connection, { columns, paths });
    const decimals = columns.filter(isDecimal).map(({ name }) => name);
    const none = { rows: 0, sums: Object.fromEntries(decimals.map((name) => [name, '0'])) };
    return {
      columns: Object.fromEntries(columns.map(({ name, type }) => [name, type])),
      files: paths.map((path) => figures.get(path) ?? none),
    };
  } finally {
    connection.closeSync();
  }
}

interface DescribedColumn {
  readonly name: string;
  readonly type: string;
}

/** Returns the figures of each file that has rows. Decodes every column. */
async function readFigures(
  connection: DuckDBConnection,
  { columns, paths }: { columns: readonly DescribedColumn[]; paths: readonly string[] },
): Promise<Map<string, Figures>> {
  const decimals = columns.filter(isDecimal).map(({ name }) => name);
  const others = columns.filter((column) => !isDecimal(column)).map(({ name }) => name);
  const queryFigures = async (parts: (value: string) => string[]): Promise<Map<string, Figures>> => {
    const sums = decimals.flatMap((name) => parts(named(name)).map((part) => `sum(${part})::varchar`));
    const counts = others.map((name) => `count(${named(name)})`);
    const read = await connection.runAndReadAll(
      `select filename, ${['count(*)', ...sums, ...counts].join(', ')} from ${parquetRows(paths)} group by filename`,
    );
    const width = sums.length / decimals.length;
    return new Map(
      read.getRows().map(([file, rows, ...values]) => {
        const sumAt = (index: number): string => {
          const found = values.slice(index * width, (index + 1) * width);
          return exactSum(...found.map((value) => (value === null ? '0' : String(value))));
        };
        const exact = Object.fromEntries(decimals.map((name, index) => [name, sumAt(index)]));
        return [String(file), { rows: Number(rows), sums: exact }];
      }),
    );
  };
  try {
    return await queryFigures((value) => [value]);
  } catch (error) {
    if (!isOverflow(error)) throw error;
    // The sum of values with 29 digits before the point exceeds DuckDB's 38. Summing in parts takes 20 times as long.
    return queryFigures((value) => [`trunc(${value})::hugeint`, `${value} - trunc(${value})`]);
  }
}

function isDecimal({ type }: DescribedColumn): boolean {
  return type.startsWith('DECIMAL');
}

function isOverflow(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Out of Range Error');
}
