import { join } from 'node:path';
import { openDuckDb, type DuckDb } from '../../lake/duck-db.ts';
import { SnapshotBroken } from '../../lake/errors.ts';
import { exactSum } from '../../lake/exact-sum.ts';
import type { ManifestTable, Unfit } from '../../lake/manifest.ts';
import { readBack } from '../../lake/read-back.ts';
import { tableDifferences } from '../../lake/table-differences.ts';
import { isUncastable, writeTable } from '../../lake/write-table.ts';
import { copyTable } from '../../warehouse/snapshots/copy-table.ts';
import { listUnfit } from '../../warehouse/snapshots/list-unfit.ts';
import { longestRow } from '../../warehouse/snapshots/longest-row.ts';
import { lookCloser, type TableMeasured } from '../../warehouse/snapshots/measure-table.ts';
import type { ClientBase } from 'pg';
import type { DatabaseSnapshot } from '../../warehouse/snapshots/open-snapshot.ts';
import type { SnapshotTable } from '../../warehouse/snapshots/snapshot-table.ts';
import { snapshotTables } from '../../warehouse/snapshots/snapshot-tables.ts';
import type { ExportProgress } from './export-job.ts';
import type { TablesMeasured } from './measure-tables.ts';
import { forEachConcurrently } from './for-each-concurrently.ts';

/**
 * Writes every table to Parquet files, several side by side, and reads each back: rows, sums and types are what the database
 * says of this very moment. Throws SnapshotBroken when they are not.
 */
export async function writeTables(
  { readers }: DatabaseSnapshot,
  input: {
    folder: string;
    scratch: string;
    measured: TablesMeasured;
    partBytes: number | undefined;
    onProgress: (progress: ExportProgress) => void;
  },
): Promise<TablesWritten> {
  const { folder, scratch, measured, partBytes, onProgress } = input;
  const spillFolder = join(scratch, 'spill');
  const workers = await Promise.all(
    readers.map(async (client) => ({ client, duckDb: await openDuckDb({ spillFolder }) })),
  );
  const written = new Map<string, TableWritten>();
  try {
    await forEachConcurrently(largestFirst(measured), workers, async (table, { client, duckDb }) => {
      const facts = await writeOne(
        { duckDb, client },
        { table, folder, scratch, partBytes, facts: factsOf(measured, table) },
      );
      const file = await checkedBack(duckDb, { folder, table, facts });
      written.set(table.name, { file, unfit: await listUnfit(client, { table, ...facts }) });
      const done = [...written.values()].reduce((sum, { file: { rows } }) => sum + rows, 0);
      onProgress({ ...measured.total, tablesDone: written.size, rowsDone: done, step: 'writing' });
    });
  } finally {
    for (const { duckDb } of workers) duckDb.close();
  }
  const inOrder = snapshotTables.flatMap(({ name }) => {
    const table = written.get(name);
    return table === undefined ? [] : [[name, table] as const];
  });
  return {
    tables: Object.fromEntries(inOrder.map(([name, { file }]) => [name, file])),
    unfit: inOrder.flatMap(([, { unfit }]) => unfit),
  };
}

export interface TablesWritten {
  readonly tables: Record<string, ManifestTable>;
  readonly unfit: Unfit[];
}

interface TableWritten {
  file: ManifestTable;
  unfit: Unfit[];
}

/** Returns what the files are held to: less than what was measured where a value does not fit. */
async function writeOne(
  { duckDb, client }: { duckDb: DuckDb; client: ClientBase },
  input: {
    table: SnapshotTable;
    folder: string;
    scratch: string;
    partBytes: number | undefined;
    facts: TableMeasured;
  },
): Promise<TableMeasured> {
  const { table, folder, scratch, partBytes, facts } = input;
  const write = ({ unfitColumns }: TableMeasured): Promise<void> =>
    writeTable(duckDb, {
      table,
      folder,
      pipe: join(scratch, `${table.name}.csv`),
      rows: facts.rows,
      partBytes,
      longestRow: () => longestRow(client, table),
      openCsv: () => copyTable(client, { table, unfitColumns }),
    });
  try {
    await write(facts);
    return facts;
  } catch (error) {
    if (!isUncastable(error)) throw error;
    const closer = await lookCloser(client, { table, measured: facts });
    await write(closer);
    return closer;
  }
}

/** The longest work first, so that the sessions end together. */
function largestFirst(measured: TablesMeasured): SnapshotTable[] {
  return [...snapshotTables].sort(
    (one, other) => factsOf(measured, other).rows - factsOf(measured, one).rows,
  );
}

function factsOf({ tables }: TablesMeasured, { name }: SnapshotTable): TableMeasured {
  const facts = tables.get(name);
  if (facts === undefined) throw new Error(`Table ${name} was not measured.`);
  return facts;
}

async function checkedBack(
  duckDb: DuckDb,
  { folder, table, facts }: { folder: string; table: SnapshotTable; facts: TableMeasured },
): Promise<ManifestTable> {
  const seen = await readBack(duckDb, { folder, table: table.name });
  const expected = {
    rows: facts.rows,
    columns: Object.fromEntries(table.columns.map(({ name, parquet }) => [name, parquet])),
    sums: Object.fromEntries(Object.entries(facts.sums).map(([name, sum]) => [name, exactSum(sum)])),
  };
  const problems = tableDifferences(table.name, expected, seen);
  if (problems.length > 0) throw new SnapshotBroken(problems.join(', '));
  return seen;
}
