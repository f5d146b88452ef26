import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { throughPipe } from './csv-pipe.ts';
import { named, quoted, type DuckDb } from './duck-db.ts';
import { scaleOf, type LakeColumn, type LakeTable } from './table.ts';

/**
 * Writes the rows of a table, given as CSV in the order of its columns, in their order to `<folder>/<table>/part-00000.parquet` and, past
 * 1 GB, to more parts. An empty table has its file too. `openCsv` is called again when a row was longer than expected.
 */
export async function writeTable(
  duckDb: DuckDb,
  input: { table: LakeTable; folder: string; pipe: string; openCsv: () => Readable },
): Promise<void> {
  const { table, folder, pipe, openCsv } = input;
  const target = join(folder, table.name);
  await mkdir(folder, { recursive: true });
  for (const lineBytes of lineLimits) {
    await rm(target, { recursive: true, force: true });
    const connection = await duckDb.connect();
    try {
      const sql = copySql(table, { pipe, target, lineBytes });
      await throughPipe(pipe, openCsv(), () => connection.run(sql));
      break;
    } catch (error) {
      if (!isLineTooLong(error) || lineBytes === lineLimits.at(-1)) throw error;
    } finally {
      connection.closeSync();
    }
  }
  for (const name of await readdir(target)) await rename(join(target, name), join(target, partName(name)));
}

/** Bytes of a row. A buffer holds a whole one, and there are several, so long rows are reckoned with only where there are. */
const lineLimits = [2_000_000, 60_000_000];

function isLineTooLong(error: unknown): boolean {
  return error instanceof Error && error.message.includes('Maximum line size');
}

/** A value has more digits before the point than its type, or is a time that it cannot hold. */
export function isUncastable(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Conversion Error');
}

function copySql(
  { columns }: LakeTable,
  { pipe, target, lineBytes }: { pipe: string; target: string; lineBytes: number },
): string {
  const types = columns.map(({ name }) => `${quoted(name)}: 'VARCHAR'`).join(', ');
  // Postgres writes null as nothing and an empty text as "".
  const csv = `read_csv(${quoted(pipe)}, columns = {${types}}, header = false, auto_detect = false, delim = ',',
    quote = '"', escape = '"', nullstr = '', allow_quoted_nulls = false, new_line = '\\n', max_line_size = ${lineBytes},
    buffer_size = ${Math.max(lineBytes, 16_000_000)})`;
  return `copy (
    select ${columns.map((column) => `${valueOf(column)} as ${named(column.name)}`).join(', ')}
    from ${csv} as csv
  ) to ${quoted(target)} (
    format parquet, compression zstd, compression_level 1, row_group_size_bytes '32MB', file_size_bytes '1GB',
    filename_pattern 'part-{i}'
  )`;
}

/**
 * Casting text to 38 digits takes 16 times as long as to 18 (136,000 rows/s against 2.2 million), and nearly every value has
 * fewer. Neither cast rounds here: what has more digits than the type was not sent.
 */
function valueOf({ name, parquet }: LakeColumn): string {
  const text = `csv.${named(name)}`;
  const scale = scaleOf(parquet);
  if (parquet === 'VARCHAR') return text;
  if (scale === undefined) return `cast(${text} as ${parquet})`;
  return `coalesce(cast(try_cast(${text} as decimal(18,${scale})) as ${parquet}), cast(${text} as ${parquet}))`;
}

function partName(name: string): string {
  const [, index = '0'] = /^part-(\d+)/.exec(name) ?? [];
  return `part-${index.padStart(5, '0')}.parquet`;
}
