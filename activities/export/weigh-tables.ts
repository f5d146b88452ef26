import { createHash } from 'node:crypto';
import type { DatabaseSnapshot } from '../../warehouse/snapshots/open-snapshot.ts';
import { readContext, type SnapshotContext } from '../../warehouse/snapshots/read-context.ts';
import { snapshotTables } from '../../warehouse/snapshots/snapshot-tables.ts';
import { weighTable, type TableWeighed } from '../../warehouse/snapshots/weigh-table.ts';
import type { ExportProgress } from './export-job.ts';
import { forEachConcurrently } from './for-each-concurrently.ts';
import { format, type PartSizes } from './plan-parts.ts';

export interface TablesWeighed extends SnapshotContext {
  readonly tables: WeighedByName;
  readonly total: { tables: number; rows: number };
}

export type WeighedByName = ReadonlyMap<string, TableWeighed>;

/** Weighs the tables in which a change is a reason for a snapshot. */
export function weighDecidingTables(snapshot: DatabaseSnapshot, weighing: Weighing): Promise<WeighedByName> {
  return weighTables(snapshot, { deciding: true, before: new Map(), ...weighing });
}

export interface Weighing {
  readonly sizes: PartSizes;
  readonly onProgress: (progress: ExportProgress) => void;
}

/** Weighs the remaining tables too, and reads the manifest's other facts. */
export async function weighAllTables(
  snapshot: DatabaseSnapshot,
  deciding: WeighedByName,
  weighing: Weighing,
): Promise<TablesWeighed> {
  const tables = await weighTables(snapshot, { deciding: false, before: deciding, ...weighing });
  const [reader] = snapshot.readers;
  if (reader === undefined) throw new Error('A snapshot without a reader cannot be read.');
  return {
    ...(await readContext(reader)),
    tables,
    total: { tables: tablesOfSnapshot, rows: countRows(tables) },
  };
}

/** Includes the table of unfit values, which is written last. */
const tablesOfSnapshot = snapshotTables.length + 1;

async function weighTables(
  { readers }: DatabaseSnapshot,
  input: Weighing & { deciding: boolean; before: WeighedByName },
): Promise<WeighedByName> {
  const { deciding, before, sizes, onProgress } = input;
  const tables = new Map(before);
  const wanted = snapshotTables.filter(({ changesBy }) => (changesBy !== 'none') === deciding);
  await forEachConcurrently(wanted, readers, async (table, client) => {
    tables.set(table.name, await weighTable(client, table, sizes));
    onProgress({
      tables: tablesOfSnapshot,
      tablesDone: 0,
      rows: countRows(tables),
      rowsDone: 0,
      step: 'counting',
    });
  });
  return tables;
}

/** Differs whenever a table whose changes count differs, or the file format. */
export function combineMarks(tables: WeighedByName): string {
  const hash = createHash('sha256').update(`${format}\n`);
  for (const { name } of snapshotTables) hash.update(`${name} ${tables.get(name)?.mark ?? ''}\n`);
  return hash.digest('hex');
}

function countRows(tables: WeighedByName): number {
  return [...tables.values()].reduce((sum, { rows }) => sum + rows, 0);
}
