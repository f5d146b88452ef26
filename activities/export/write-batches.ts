import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClientBase } from 'pg';
import { openDuckDb, type DuckDb } from '../../lake/duck-db.ts';
import { SnapshotBroken } from '../../lake/errors.ts';
import { exactSum } from '../../lake/exact-sum.ts';
import { tableOfFiles, type ManifestFile, type Unfit } from '../../lake/manifest.ts';
import { readBack, type FileBack, type FilesBack } from '../../lake/read-back.ts';
import { removeIn } from '../../lake/remove-below.ts';
import { tableDifferences } from '../../lake/table-differences.ts';
import { isUncastable, writeTable } from '../../lake/write-table.ts';
import { copyTable } from '../../warehouse/snapshots/copy-table.ts';
import { listUnfit, type RoomForUnfit } from '../../warehouse/snapshots/list-unfit.ts';
import { longestRow } from '../../warehouse/snapshots/longest-row.ts';
import { lookCloser, measureTable, type TableMeasured } from '../../warehouse/snapshots/measure-table.ts';
import type { DatabaseSnapshot } from '../../warehouse/snapshots/open-snapshot.ts';
import { partOf } from '../../warehouse/snapshots/part-of.ts';
import type { SnapshotTable } from '../../warehouse/snapshots/snapshot-table.ts';
import { unfitRowsOf } from '../../warehouse/snapshots/unfit-table.ts';
import { forEachConcurrently } from './for-each-concurrently.ts';
import type { FileNames } from './file-names.ts';
import type { PartFilled } from './keep-parts.ts';
import type { PartPlanned } from './plan-parts.ts';
import { needsFile, type UnfitPlanned } from './unfit-parts.ts';

/** Parts of one table that are read from the database, and written, together. */
export interface Batch {
  readonly table: SnapshotTable;
  readonly parts: readonly PartPlanned[];
  /** Undefined where nobody has counted them yet: what is written of unfit values. */
  readonly rows: number | undefined;
}

/** Rows that are in memory, or spilled, before they are written to the files of a batch. */
const rowsOfBatch = 50_000;
const partsOfBatch = 100;

/** Many small parts together, so that the way to the database and back is gone once for all of them; a large one alone. */
export function batchesOf(table: SnapshotTable, parts: readonly PartPlanned[]): Batch[] {
  const batches: { table: SnapshotTable; parts: PartPlanned[]; rows: number }[] = [];
  for (const part of parts) {
    const last = batches.at(-1);
    if (last !== undefined && last.rows + part.rows <= rowsOfBatch && last.parts.length < partsOfBatch) {
      last.parts.push(part);
      last.rows += part.rows;
    } else batches.push({ table, parts: [part], rows: part.rows });
  }
  return batches;
}

/**
 * Writes batches to Parquet files of a folder, several side by side, and reads each file back: rows, sums and types are what the
 * database says of this very moment. Throws SnapshotBroken when they are not.
 */
export async function writeBatches(
  { readers }: DatabaseSnapshot,
  input: {
    batches: readonly Batch[];
    unfit: UnfitPlanned;
    /** How much of the unfit values the manifest still lists. */
    room: RoomForUnfit;
    folder: string;
    scratch: string;
    partBytes: number | undefined;
    snapshotId: string;
    nameFile: FileNames;
    onWritten: (part: PartPlanned) => void;
  },
): Promise<{ parts: PartFilled[]; unfit: Unfit[] }> {
  const { batches, unfit, room, folder, scratch, partBytes, snapshotId, nameFile, onWritten } = input;
  const spillFolder = join(scratch, 'spill');
  const workers = await Promise.all(
    readers.map(async (client, place) => ({ client, duckDb: await openDuckDb({ spillFolder }), place })),
  );
  const written: { parts: PartFilled[]; unfit: Unfit[] } = { parts: [], unfit: [] };
  const largestFirst = [...batches].sort((one, other) => (other.rows ?? 0) - (one.rows ?? 0));
  try {
    await forEachConcurrently(largestFirst, workers, async (batch, { client, duckDb, place }) => {
      const draft = join(folder, `.batch-${place}`);
      const pipe = join(scratch, `${place}.csv`);
      const rows = rowsOf(batch);
      const write = async (one: Batch, from: SnapshotTable): Promise<TableMeasured> => {
        const { facts, names } = await writeOne(duckDb, client, {
          ...{ batch: one, rows: from, draft, pipe, partBytes },
        });
        const back = await readBack(duckDb, { folder: draft, paths: names.flat() });
        compare(one, facts, back);
        for (const { part, files } of await moveFiles({ batch: one, names, nameFile, back, draft, folder }))
          written.parts.push({ part, files: files.map((file) => ({ ...file, since: snapshotId })) });
        return facts;
      };
      const { unfitColumns } = await write(batch, rows);
      const listings = batch.parts.flatMap((part) => unfit.partFor(part) ?? []);
      if (listings.length > 0 && (unfitColumns.length > 0 || listings.some(needsFile)))
        await write(
          { table: unfit.table, parts: listings, rows: undefined },
          unfitRowsOf(rows, unfitColumns),
        );
      for (const part of batch.parts) onWritten(part);
      written.unfit.push(...(await listUnfit(client, { table: rows, unfitColumns, room })));
    });
    return written;
  } finally {
    for (const { duckDb } of workers) duckDb.close();
    for (const { place } of workers) await removeIn(folder, `.batch-${place}`);
  }
}

/** The rows of a batch as a table. */
function rowsOf({ table, parts }: Batch): SnapshotTable {
  const connections = parts.map((part) => part.connections);
  return connections.includes(undefined)
    ? table
    : partOf(
        table,
        connections.flatMap((names) => names ?? []),
      );
}

/** Returns what the files are held to: less than what was measured where a value does not fit. */
async function writeOne(
  duckDb: DuckDb,
  client: ClientBase,
  input: { batch: Batch; rows: SnapshotTable; draft: string; pipe: string; partBytes: number | undefined },
): Promise<{ facts: TableMeasured; names: string[][] }> {
  const { batch, rows, draft, pipe, partBytes } = input;
  const facts = await measureTable(client, rows);
  const write = ({ unfitColumns }: TableMeasured): Promise<string[][]> =>
    writeTable(duckDb, {
      table: batch.table,
      folder: draft,
      parts: batch.parts.length === 1 ? undefined : batch.parts.map(({ connections = [] }) => connections),
      pipe,
      rows: facts.rows,
      partBytes,
      longestRow: () => longestRow(client, rows),
      openCsv: () => copyTable(client, { table: rows, unfitColumns }),
    });
  try {
    return { facts, names: await write(facts) };
  } catch (error) {
    if (!isUncastable(error)) throw error;
    const closer = await lookCloser(client, { table: rows, measured: facts });
    return { facts: closer, names: await write(closer) };
  }
}

function compare({ table, rows }: Batch, facts: TableMeasured, { columns, files }: FilesBack): void {
  const expected = {
    rows: rows ?? facts.rows,
    columns: Object.fromEntries(table.columns.map(({ name, parquet }) => [name, parquet])),
    sums: Object.fromEntries(Object.entries(facts.sums).map(([name, sum]) => [name, exactSum(sum)])),
  };
  const problems = tableDifferences(table.name, expected, tableOfFiles(columns, files));
  if (problems.length > 0) throw new SnapshotBroken(problems.join(', '));
}

/** Gives the files of a batch the names that they have in the snapshot. */
async function moveFiles(input: {
  batch: Batch;
  /** Part by part. */
  names: readonly string[][];
  nameFile: FileNames;
  back: FilesBack;
  draft: string;
  folder: string;
}): Promise<PartFilled[]> {
  const {
    batch: { table, parts, rows: counted },
    names,
    nameFile,
    back,
    draft,
    folder,
  } = input;
  await mkdir(join(folder, table.name), { recursive: true });
  const read = new Map(back.files.map((file) => [file.path, file]));
  const filled: PartFilled[] = [];
  for (const [place, part] of parts.entries()) {
    const files: ManifestFile[] = [];
    for (const [number, name] of (names[place] ?? []).entries()) {
      const found = fileNamed(read, name);
      if (counted === undefined && found.rows === 0 && !needsFile(part)) continue;
      const path = nameFile(table, part, number);
      await rename(join(draft, name), join(folder, path));
      files.push({
        ...found,
        path,
        ...(part.content === undefined ? {} : { content: part.content }),
      });
    }
    const rows = files.reduce((sum, file) => sum + file.rows, 0);
    if (counted !== undefined && rows !== part.rows)
      throw new SnapshotBroken(`${table.name} has a part of ${rows} rows instead of ${part.rows}`);
    filled.push({ part, files });
  }
  return filled;
}

function fileNamed(read: ReadonlyMap<string, FileBack>, name: string): FileBack {
  const file = read.get(name);
  if (file === undefined) throw new SnapshotBroken(`${name} was written and not found again`);
  return file;
}
