import { quotedPath, type DuckDb } from './duck-db.ts';

/**
 * Whether a Parquet file has so many rows, by what its footer says of the file and of each group of rows. One that names a group again and
 * again has billions of rows in 100 kB, and to read them takes hours: no row is read here.
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
