import { quotedPath } from './duck-db.ts';

/**
 * The rows of Parquet files, as SQL. A lake may lie anywhere: DuckDB would take `name=value` in the path of a folder for a column, over
 * the one of that name in the file.
 */
export function parquetRows(paths: readonly string[]): string {
  return `read_parquet([${paths.map(quotedPath).join(', ')}], hive_partitioning = false)`;
}
