import type { ClientBase } from 'pg';
import { to as copyTo, type CopyToStreamQuery } from 'pg-copy-streams';
import { heldValue } from './held-value.ts';
import { named, type SnapshotTable } from './snapshot-table.ts';

/**
 * Copies the rows of a table as CSV, in order; a value that does not fit its Parquet type is rounded or null. Postgres sorts, not DuckDB: it leaves
 * long values where they are meanwhile, while DuckDB gives up at 400 MB of memory with 30,000 rows of 20 KB.
 */
export function copyTable(
  client: ClientBase,
  { table, unfitColumns }: { table: SnapshotTable; unfitColumns: readonly string[] },
): CopyToStreamQuery {
  const values = table.columns.map((column) => {
    const name = named(column.name);
    return unfitColumns.includes(column.name) ? (heldValue(column)?.value ?? name) : name;
  });
  const order = table.orderBy.map((name) => `${named(name)} nulls last`).join(', ');
  return client.query(
    copyTo(`copy (select ${values.join(', ')} from ${table.from} order by ${order}) to stdout (format csv)`),
  );
}
