import { createHash } from 'node:crypto';
import type { DatabaseSnapshot } from '../../warehouse/snapshots/open-snapshot.ts';
import { readContext, type SnapshotContext } from '../../warehouse/snapshots/read-context.ts';
import { snapshotTables } from '../../warehouse/snapshots/snapshot-tables.ts';
import { weighTable, type TableWeighed } from '../../warehouse/snapshots/weigh-table.ts';
import type { ExportProgress } from './export-job.ts';
import { forEachConcurrently } from './for-each-concurrently.ts';

export interface TablesWeighed extends SnapshotContext {
  /** By name. */
  readonly tables: ReadonlyMap<string, TableWeighed>;
  readonly total: { tables: number; rows: number };
}

/** Counts the rows of every table and connection, and marks them. */
export async function weighTables(
  { readers }: DatabaseSnapshot,
  onProgress: (progress: ExportProgress) => void,
): Promise<TablesWeighed> {
  const tables = new Map<string, TableWeighed>();
  await forEachConcurrently(snapshotTables, readers, async (table, client) => {
    tables.set(table.name, await weighTable(client, table));
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
export function markOf(tables: TablesWeighed['tables']): string {
  const hash = createHash('sha256');
  for (const { name } of snapshotTables) hash.update(`${name} ${tables.get(name)?.mark ?? ''}\n`);
  return hash.digest('hex');
}

function rowsOf(tables: TablesWeighed['tables']): number {
  return [...tables.values()].reduce((sum, { rows }) => sum + rows, 0);
}
