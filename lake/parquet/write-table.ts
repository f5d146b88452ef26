import type { DuckDBConnection } from '@duckdb/node-api';
import { mkdir, readdir, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { StreamTooLong, throughPipe } from './csv-pipe.ts';
import { cutCsv } from './cut-csv.ts';
import { named, quoted, type DuckDb } from './duck-db.ts';
import { RowTooLong, SnapshotBroken } from '../errors.ts';
import { removeIn } from '../files/remove-below.ts';
import { scaleOf, type LakeColumn, type LakeTable } from './table.ts';

export interface WriteTableInput {
  table: LakeTable;
  /** The folder for the files; it is emptied first. */
  folder: string;
  /** The contents of each part; undefined: one part holds everything. */
  parts: PartsByConnection | PartsByColumn | undefined;
  /** The path of a pipe that is created and removed. */
  pipe: string;
  /** The expected number of rows. */
  rows: number;
  /** The rows as CSV in the order of the columns; called again if a row was longer than expected. */
  openCsv: () => Readable;
  /** The bytes of the longest row as CSV, or a little more. Called only if a row was longer than expected. */
  longestRow: () => Promise<number>;
  /** A part that holds everything continues in another file after so many bytes. */
  partBytes: number | undefined;
}

/** Each part holds some connections. Together they are small. */
export interface PartsByConnection {
  readonly connections: readonly (readonly string[])[];
}

/** Each part holds the rows with one value in the first column, which the files omit. Rows and values are sorted by it. */
export interface PartsByColumn {
  readonly column: string;
  readonly values: readonly number[];
}

/**
 * Writes the rows of a table in their order, and returns the files of the folder for each part. A part that holds everything, or a part by
 * column with long rows, continues in another file after 1 GB. A part without rows has a file too. Throws RowTooLong, SnapshotBroken, and
 * PartsTooLarge if parts by connection must be written one by one.
 */
export async function writeTable(duckDb: DuckDb, input: WriteTableInput): Promise<string[][]> {
  const { table, folder, parts, longestRow } = input;
  if (!(await tryToWrite(duckDb, input, usualRowBytes).catch(falseOfTooLong))) {
    if (parts !== undefined && 'connections' in parts)
      throw new PartsTooLarge(`Parts of ${table.name} are written one by one`);
    const rowBytes = Math.max(usualRowBytes, await longestRow());
    if (rowBytes > longestRowBytes) throw new RowTooLong(table.name, longestRowBytes);
    if (!(await tryToWrite(duckDb, input, rowBytes)))
      throw new SnapshotBroken(`${table.name} lost rows on the way`);
  }
  if (parts === undefined) return [await filesIn(folder)];
  const found = new Set(await readdir(folder));
  const files = ('column' in parts ? parts.values : parts.connections).map(async (_, index) => {
    const several = folderName(index);
    if (!found.has(several)) return [fileName(index)];
    return (await filesIn(join(folder, several))).map((name) => join(several, name));
  });
  return Promise.all(files);
}

async function filesIn(folder: string): Promise<string[]> {
  const names = await readdir(folder);
  return names.sort((one, other) => numberIn(one) - numberIn(other));
}

/** The parts of a table have too much data, or too long a row, to be written together. */
export class PartsTooLarge extends Error {
  override readonly name = 'PartsTooLarge';
}

/** Bytes of a row. A buffer holds a whole row, and there are several buffers, so long rows are allowed for only if there are some. */
const usualRowBytes = 2_000_000;
const longestRowBytes = 60_000_000;

/**
 * The limit of bytes for parts that are written together. Their rows are a table in memory, from which DuckDB takes 2,048 rows at a time, with
 * several copies, however long they are. The rows of a single part are streamed.
 */
const bytesTogether = 250_000_000;

/**
 * Returns false for the errors of a row that is longer than DuckDB's CSV buffer. The error depends on where in the row the buffer ends, and on
 * the release.
 */
function falseOfTooLong(error: unknown): false {
  if (error instanceof StreamTooLong) return false;
  if (error instanceof Error && /^(Invalid Input|Not implemented) Error/.test(error.message)) return false;
  throw error;
}

/** Returns whether every row was written. A row that is longer than a buffer is an error or, if it is the last one, silently dropped. */
async function tryToWrite(duckDb: DuckDb, input: WriteTableInput, rowBytes: number): Promise<boolean> {
  const { table, folder, pipe, parts, rows, openCsv } = input;
  await mkdir(dirname(folder), { recursive: true });
  await removeIn(dirname(folder), basename(folder));
  const selected = selectSql(table.columns, { from: table.columns, pipe, rowBytes });
  const connection = await duckDb.connect();
  try {
    if (parts === undefined) {
      const sql = `copy (${selected}) to ${quoted(folder)} (${severalFiles(input)})`;
      const written = await throughPipe(pipe, openCsv, () => connection.runAndReadAll(sql));
      return Number(written.getRows()[0]?.[0]) === rows;
    }
    await mkdir(folder);
    if ('column' in parts) {
      const write = rowBytes > usualRowBytes ? writeOneByOne : writeByColumn;
      return (await write(connection, { ...input, parts, rowBytes })) === rows;
    }
    const create = (): Promise<unknown> => connection.run(`create temp table batch as ${selected}`);
    await throughPipe(pipe, openCsv, create, bytesTogether);
    let copied = 0;
    for (const [index, connections] of parts.connections.entries()) {
      const written = await connection.runAndReadAll(
        `copy (select * from batch where connection_id in (${connections.map(quoted).join(', ')}))
         to ${quoted(join(folder, fileName(index)))} (${parquetOptions})`,
      );
      copied += Number(written.getRows()[0]?.[0]);
    }
    return copied === rows;
  } finally {
    connection.closeSync();
  }
}

interface ByColumn extends WriteTableInput {
  readonly parts: PartsByColumn;
  readonly rowBytes: number;
}

/** Streams the rows to the files of the parts, and returns their number. */
async function writeByColumn(connection: DuckDBConnection, input: ByColumn): Promise<number> {
  const { table, folder, pipe, parts, openCsv, rowBytes } = input;
  const { column, values } = parts;
  // DuckDB limits the number of gathered rows, not their bytes, and it keeps the rows of a part in memory while that part's file is open.
  await connection.run('set partitioned_write_flush_threshold = 1');
  await connection.run('set partitioned_write_max_open_files = 1');
  const divided = join(folder, 'divided');
  const selected = selectSql(table.columns, { from: table.columns, pipe, rowBytes });
  const sql = `copy (${selected}) to ${quoted(divided)} (${gatheredOptions}, partition_by (${named(column)}))`;
  const written = await throughPipe(pipe, openCsv, () => connection.runAndReadAll(sql));
  const found = new Set(await readdir(divided));
  for (const [index, value] of values.entries()) {
    const of = `${column}=${value}`;
    const to = join(folder, fileName(index));
    if (found.has(of)) await rename(join(divided, of, 'data_0.parquet'), to);
    else await connection.run(`copy (${noneOf(table, column)}) to ${quoted(to)} (${parquetOptions})`);
  }
  await removeIn(folder, basename(divided));
  return Number(written.getRows()[0]?.[0]);
}

/**
 * Does the same for long rows: DuckDB holds two more copies of the rows that it divides than of rows that it streams, which is too much for
 * rows of 50 MB. The rows are still read only once, and a part may have several files.
 */
async function writeOneByOne(connection: DuckDBConnection, input: ByColumn): Promise<number> {
  const { table, folder, pipe, parts, openCsv, rowBytes } = input;
  const held = table.columns.filter(({ name }) => name !== parts.column);
  const selected = selectSql(held, { from: table.columns, pipe, rowBytes });
  const csv = cutCsv(openCsv());
  let copied = 0;
  try {
    for (const [index, value] of parts.values.entries()) {
      const sql = `copy (${selected}) to ${quoted(join(folder, folderName(index)))} (${severalFiles(input)})`;
      const open = (): Readable => csv.rowsOf(value);
      const written = await throughPipe(pipe, open, () => connection.runAndReadAll(sql));
      copied += Number(written.getRows()[0]?.[0]);
    }
  } finally {
    await csv.drain();
  }
  return copied;
}

/** Returns SQL that selects no rows, with the columns of a file. */
function noneOf({ columns }: LakeTable, without: string): string {
  const nulls = columns
    .filter(({ name }) => name !== without)
    .map(({ name, parquet }) => `cast(null as ${parquet}) as ${named(name)}`);
  return `select ${nulls.join(', ')} where false`;
}

/** A value has more digits before the point than its type, or is a time that it cannot hold. */
export function isUncastable(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Conversion Error');
}

/** How every file of a snapshot is written. */
export const parquetOptions = optionsFor('12MB');

/** The options where DuckDB gathers rows: it then ends a row group at half of the given size. */
const gatheredOptions = optionsFor('24MB');

function optionsFor(rowGroup: string): string {
  return `format parquet, compression zstd, compression_level 1, row_group_size_bytes '${rowGroup}'`;
}

/** Returns SQL that selects some columns of the rows from a pipe. */
function selectSql(
  columns: readonly LakeColumn[],
  { from, pipe, rowBytes }: { from: readonly LakeColumn[]; pipe: string; rowBytes: number },
): string {
  const types = from.map(({ name }) => `${quoted(name)}: 'VARCHAR'`).join(', ');
  // Postgres writes null as nothing and an empty text as "".
  // A pattern matches no pipe, so DuckDB tries the path itself. `name=value` in it would become a column, instead of the file's column of that name.
  const csv = `read_csv(${quoted(pipe)}, hive_partitioning = false, columns = {${types}}, header = false, auto_detect = false, delim = ',',
    quote = '"', escape = '"', nullstr = '', allow_quoted_nulls = false, new_line = '\\n', max_line_size = ${rowBytes},
    buffer_size = ${rowBytes})`;
  return `select ${columns.map((column) => `${valueOf(column)} as ${named(column.name)}`).join(', ')} from ${csv} as csv`;
}

/**
 * Casting text to 38 digits takes 16 times as long as to 18 (136,000 rows/s against 2.2 million), and nearly every value has
 * fewer. Neither cast rounds here: values with more digits than the type were
 * rounded before they were sent.
 */
function valueOf({ name, parquet }: LakeColumn): string {
  const text = `csv.${named(name)}`;
  const scale = scaleOf(parquet);
  if (parquet === 'VARCHAR') return text;
  if (scale === undefined) return `cast(${text} as ${parquet})`;
  return `coalesce(cast(try_cast(${text} as decimal(18,${scale})) as ${parquet}), cast(${text} as ${parquet}))`;
}

/** Returns the options that continue in another file when one becomes too large. */
function severalFiles({ partBytes = 1_000_000_000 }: WriteTableInput): string {
  return `${parquetOptions}, file_size_bytes ${partBytes}, filename_pattern 'part-{i}'`;
}

function fileName(index: number): string {
  return `part-${index}.parquet`;
}

/** The folder of a part that has several files. */
function folderName(index: number): string {
  return `part-${index}`;
}

function numberIn(name: string): number {
  return Number(/\d+/.exec(name)?.[0] ?? '0');
}
