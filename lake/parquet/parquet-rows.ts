import { quotedPath } from './duck-db.ts';

/**
 * The rows of Parquet files, as SQL. A lake may lie anywhere: DuckDB would take `name=value` in a folder's path as a column, instead of the
 * file's column of that name.
 */
export function parquetRows(paths: readonly string[]): string {
  return `read_parquet([${paths.map(quotedPath).join(', ')}], hive_partitioning = false)`;
}
