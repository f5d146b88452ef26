import type { DuckDBConnection } from '@duckdb/node-api';
import { mkdir, readdir, rename } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { throughPipe, type NamedPipes } from './csv-pipe.ts';
import { cutCsv } from './cut-csv.ts';
import { named, quoted, type DuckDb } from './duck-db.ts';
import { RowTooLong, SnapshotBroken } from '../errors.ts';
import { removeIn } from '../files/remove-below.ts';
import { scaleOf, type LakeColumn, type LakeTable } from './table.ts';

export interface WriteTableInput {
  table: LakeTable;
  /** The folder for the files; it is emptied first. */
  folder: string;
  /** Undefined: one part holds everything. */
  parts: Parts | undefined;
  pipes: NamedPipes;
  /** The expected number of rows. */
  rows: number;
  /** The rows as CSV in the order of the columns; called again if a row was longer than expected. */
  openCsv: () => Readable;
  /** The bytes of the longest row as CSV, or a little more. Called only if a row was longer than expected. */
  longestRow: () => Promise<number>;
  /** A part that holds everything continues in another file after so many bytes. */
  partBytes: number | undefined;
}

/** Each part holds the rows with its number in the first column, which the files omit. Rows are sorted by it, and the numbers ascend. */
export interface Parts {
  readonly column: string;
  readonly numbers: readonly number[];
}

/**
 * Writes the rows of a table in their order, and returns the files of the folder for each part. A part that holds everything, or one of several
 * parts with long rows, continues in another file after 1 GB. A part without rows has a file too. Throws RowTooLong and SnapshotBroken.
 */
export async function writeTable(duckDb: DuckDb, input: WriteTableInput): Promise<string[][]> {
  const { table, folder, parts, longestRow } = input;
  if (!(await tryToWrite(duckDb, input, usualRowBytes).catch(falseOfTooLong))) {
    const rowBytes = Math.max(usualRowBytes, await longestRow());
    if (rowBytes > longestRowBytes) throw new RowTooLong(table.name, longestRowBytes);
    if (!(await tryToWrite(duckDb, input, rowBytes)))
      throw new SnapshotBroken(`${table.name} lost rows on the way`);
  }
  if (parts === undefined) return [await filesIn(folder)];
  const found = new Set(await readdir(folder));
  const files = parts.numbers.map(async (_, index) => {
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

/** Bytes of a row. A buffer holds a whole row, and there are several buffers, so long rows are allowed for only if there are some. */
const usualRowBytes = 2_000_000;
const longestRowBytes = 60_000_000;

/**
 * Returns false for the errors of a row that is longer than DuckDB's CSV buffer. The error depends on where in the row the buffer ends, and on
 * the release.
 */
function falseOfTooLong(error: unknown): false {
  if (error instanceof Error && /^(Invalid Input|Not implemented) Error/.test(error.message)) return false;
  throw error;
}

/** Returns whether every row was written. A row that is longer than a buffer is an error or, if it is the last one, silently dropped. */
async function tryToWrite(duckDb: DuckDb, input: WriteTableInput, rowBytes: number): Promise<boolean> {
  const { table, folder, parts, rows } = input;
  await mkdir(dirname(folder), { recursive: true });
  await removeIn(dirname(folder), basename(folder));
  const connection = await duckDb.connect();
  try {
    if (parts === undefined) {
      const copy = { columns: table.columns, rowBytes, to: folder, options: severalFiles(input) };
      return (await copyCsv(connection, input, copy)) === rows;
    }
    await mkdir(folder);
    const write = rowBytes > usualRowBytes ? writeOneByOne : writeTogether;
    return (await write(connection, { ...input, parts, rowBytes })) === rows;
  } finally {
    connection.closeSync();
  }
}

interface WritePartsInput extends WriteTableInput {
  readonly parts: Parts;
  readonly rowBytes: number;
}

/** Streams the rows to the files of the parts, and returns their number. */
async function writeTogether(connection: DuckDBConnection, input: WritePartsInput): Promise<number> {
  const { table, folder, parts, rowBytes } = input;
  const { column, numbers } = parts;
  // DuckDB limits the number of gathered rows, not their bytes, and it keeps the rows of a part in memory while that part's file is open.
  await connection.run('set partitioned_write_flush_threshold = 1');
  await connection.run('set partitioned_write_max_open_files = 1');
  const divided = join(folder, 'divided');
  const options = `${gatheredOptions}, partition_by (${named(column)})`;
  const written = await copyCsv(connection, input, {
    columns: table.columns,
    rowBytes,
    to: divided,
    options,
  });
  const found = new Set(await readdir(divided));
  for (const [index, number] of numbers.entries()) {
    const of = `${column}=${number}`;
    const to = join(folder, fileName(index));
    if (found.has(of)) await rename(join(divided, of, 'data_0.parquet'), to);
    else await connection.run(`copy (${selectNoRows(table, column)}) to ${quoted(to)} (${parquetOptions})`);
  }
  await removeIn(folder, basename(divided));
  return written;
}

/**
 * Does the same for long rows: DuckDB holds two more copies of the rows that it divides than of rows that it streams, which is too much for
 * rows of 50 MB. The rows are still read only once, and a part may have several files.
 */
async function writeOneByOne(connection: DuckDBConnection, input: WritePartsInput): Promise<number> {
  const { table, folder, parts, rowBytes } = input;
  const columns = table.columns.filter(({ name }) => name !== parts.column);
  const csv = cutCsv(input.openCsv());
  const options = severalFiles(input);
  let copied = 0;
  try {
    for (const [index, number] of parts.numbers.entries()) {
      const to = join(folder, folderName(index));
      const openCsv = (): Readable => csv.rowsOf(number);
      copied += await copyCsv(connection, { ...input, openCsv }, { columns, rowBytes, to, options });
    }
  } finally {
    await csv.drain();
  }
  return copied;
}

/** Copies some columns of CSV to Parquet, and returns the number of rows. */
async function copyCsv(
  connection: DuckDBConnection,
  { table, pipes, openCsv }: WriteTableInput,
  copy: { columns: readonly LakeColumn[]; rowBytes: number; to: string; options: string },
): Promise<number> {
  const { columns, rowBytes, to, options } = copy;
  const written = await throughPipe(pipes, openCsv, (pipe) => {
    const selected = selectSql(columns, { from: table.columns, pipe, rowBytes });
    return connection.runAndReadAll(`copy (${selected}) to ${quoted(to)} (${options})`);
  });
  return Number(written.getRows()[0]?.[0]);
}

/** Returns SQL that selects no rows, with the columns of a file. */
function selectNoRows({ columns }: LakeTable, without: string): string {
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
  return `select ${columns.map((column) => `${castColumn(column)} as ${named(column.name)}`).join(', ')} from ${csv} as csv`;
}

/**
 * Casting text to 38 digits takes 16 times as long as to 18 (136,000 rows/s against 2.2 million), and nearly every value has
 * fewer. Neither cast rounds here: values with more digits than the type were
 * rounded before they were sent.
 */
function castColumn({ name, parquet }: LakeColumn): string {
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
