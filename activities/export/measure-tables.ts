import { createHash } from 'node:crypto';
import type { DatabaseSnapshot } from '../../warehouse/snapshots/open-snapshot.ts';
import { measureTable, type TableMeasured } from '../../warehouse/snapshots/measure-table.ts';
import { readContext, type SnapshotContext } from '../../warehouse/snapshots/read-context.ts';
import { snapshotTables } from '../../warehouse/snapshots/snapshot-tables.ts';
import type { ExportProgress } from './export-job.ts';
import { forEachConcurrently } from './for-each-concurrently.ts';

export interface TablesMeasured extends SnapshotContext {
  /** By name. */
  readonly tables: ReadonlyMap<string, TableMeasured>;
  readonly total: { tables: number; rows: number };
}

/** Counts and sums every table: the files are held to it. */
export async function measureTables(
  { readers }: DatabaseSnapshot,
  onProgress: (progress: ExportProgress) => void,
): Promise<TablesMeasured> {
  const tables = new Map<string, TableMeasured>();
  await forEachConcurrently(snapshotTables, readers, async (table, client) => {
    tables.set(table.name, await measureTable(client, table));
    onProgress({
      tables: snapshotTables.length,
      tablesDone: 0,
      rows: rowsOf(tables),
      rowsDone: 0,
      step: 'counting',
    });
  });
  const [reader] = readers;
  if (reader === undefined) throw new Error('A snapshot without a reader cannot be read.');
  return {
    ...(await readContext(reader)),
    tables,
    total: { tables: snapshotTables.length, rows: rowsOf(tables) },
  };
}

/** Another one whenever a table whose changes count is another. */
export function markOf(tables: ReadonlyMap<string, TableMeasured>): string {
  const hash = createHash('sha256');
  for (const { name } of snapshotTables) hash.update(`${name} ${tables.get(name)?.mark ?? ''}\n`);
  return hash.digest('hex');
}

function rowsOf(tables: ReadonlyMap<string, TableMeasured>): number {
  return [...tables.values()].reduce((sum, { rows }) => sum + rows, 0);
}
