import type { ClientBase } from 'pg';
import { to as copyTo, type CopyToStreamQuery } from 'pg-copy-streams';
import { fits } from './fits.ts';
import { named, type SnapshotTable } from './snapshot-table.ts';

/**
 * The rows of a table as CSV, in order; what does not fit its Parquet type is null. Postgres sorts, not DuckDB: it leaves long
 * values where they are meanwhile, while DuckDB gives up at 400 MB of memory with 30,000 rows of 20 KB.
 */
export function copyTable(
  client: ClientBase,
  { table, unfitColumns }: { table: SnapshotTable; unfitColumns: readonly string[] },
): CopyToStreamQuery {
  const values = table.columns.map((column) => {
    const name = named(column.name);
    return unfitColumns.includes(column.name) ? `case when ${fits(column) ?? 'true'} then ${name} end` : name;
  });
  const order = table.orderBy.map((name) => `${named(name)} nulls last`).join(', ');
  return client.query(
    copyTo(`copy (select ${values.join(', ')} from ${table.from} order by ${order}) to stdout (format csv)`),
  );
}
