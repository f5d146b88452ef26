import { quotedPath, type DuckDb } from './duck-db.ts';

/**
 * Whether a Parquet file has so many rows, according to its footer, in total and by row group. A file that repeats a row group can have billions
 * of rows in 100 kB, which would take hours to read: no row is read here.
 */
export async function hasRows(duckDb: DuckDb, path: string, rows: number): Promise<boolean> {
  const connection = await duckDb.connect();
  try {
    const read = await connection.runAndReadAll(`
      select (select sum(num_rows) from parquet_file_metadata(${quotedPath(path)})),
        (select coalesce(sum(row_group_num_rows), 0) from parquet_metadata(${quotedPath(path)}) where column_id = 0)`);
    return (read.getRows()[0] ?? []).every((said) => Number(said) === rows);
  } finally {
    connection.closeSync();
  }
}
