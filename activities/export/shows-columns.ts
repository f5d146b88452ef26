import { isDeepStrictEqual } from 'node:util';
import type { Manifest } from '../../lake/manifest/manifest.ts';
import type { SnapshotTable } from '../../warehouse/snapshots/snapshot-table.ts';
import { snapshotTables } from '../../warehouse/snapshots/snapshot-tables.ts';

/** Whether a snapshot has the current columns of the tables: a release, or a column that somebody adds, changes them without writing a row. */
export function showsColumns(
  { tables }: Pick<Manifest, 'tables'>,
  of: readonly Pick<SnapshotTable, 'name' | 'columns'>[] = snapshotTables,
): boolean {
  return of.every((table) => isDeepStrictEqual(tables[table.name]?.columns, columnTypes(table)));
}

/** The Parquet types of the columns, by name. */
export function columnTypes({ columns }: Pick<SnapshotTable, 'columns'>): Record<string, string> {
  return Object.fromEntries(columns.map(({ name, parquet }) => [name, parquet]));
}
