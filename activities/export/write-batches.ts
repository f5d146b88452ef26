import { mkdir, rename } from 'node:fs/promises';
import { join } from 'node:path';
import type { ClientBase } from 'pg';
import { openDuckDb, type DuckDb } from '../../lake/parquet/duck-db.ts';
import { SnapshotBroken } from '../../lake/errors.ts';
import { NamedPipes } from '../../lake/parquet/csv-pipe.ts';
import { exactSum } from '../../lake/parquet/exact-sum.ts';
import { tableOfFiles, type ManifestFile, type Unfit } from '../../lake/manifest/manifest.ts';
import { readBack, type FileBack, type FilesBack } from '../../lake/parquet/read-back.ts';
import { removeIn } from '../../lake/files/remove-below.ts';
import { tableDifferences } from '../../lake/parquet/table-differences.ts';
import { isUncastable, writeTable } from '../../lake/parquet/write-table.ts';
import { copyTable } from '../../warehouse/snapshots/copy-table.ts';
import { listUnfit, type RoomForUnfit } from '../../warehouse/snapshots/list-unfit.ts';
import { longestRow } from '../../warehouse/snapshots/longest-row.ts';
import { lookCloser, measureTable, type TableMeasured } from '../../warehouse/snapshots/measure-table.ts';
import type { DatabaseSnapshot } from '../../warehouse/snapshots/open-snapshot.ts';
import { partNumbers, partColumn, rowsOfParts } from '../../warehouse/snapshots/part-of.ts';
import type { SnapshotTable } from '../../warehouse/snapshots/snapshot-table.ts';
import { selectUnfitRows } from '../../warehouse/snapshots/unfit-table.ts';
import { forEachConcurrently } from './for-each-concurrently.ts';
import type { FileNames } from './file-names.ts';
import type { PartFilled } from './keep-parts.ts';
import type { PartPlanned } from './plan-parts.ts';
import { withPlace } from './place-of-failure.ts';
import { columnTypes } from './shows-columns.ts';
import { needsFile, type UnfitPlanned } from './unfit-parts.ts';

/** Parts of one table that are read and written together. */
export interface Batch {
  readonly table: SnapshotTable;
  readonly parts: readonly PartPlanned[];
  /** Undefined if the rows are not counted yet, as for unfit values. */
  readonly rows: number | undefined;
}

/** The number of rows in memory, or spilled, before they are written to the files of a batch. */
const rowsOfBatch = 50_000;
const partsOfBatch = 100;

/**
 * Puts many small parts together, to save round trips to the database; keeps a large part alone; and puts the pieces of a connection
 * together, however many rows they have, so that its rows are scanned once.
 */
export function groupIntoBatches(table: SnapshotTable, parts: readonly PartPlanned[]): Batch[] {
  const batches: { table: SnapshotTable; parts: PartPlanned[]; rows: number }[] = [];
  for (const part of parts) {
    const last = batches.at(-1);
    if (last !== undefined && (isOfSameConnection(last.parts, part) || hasRoom(last, part))) {
      last.parts.push(part);
      last.rows += part.rows;
    } else batches.push({ table, parts: [part], rows: part.rows });
  }
  return batches;
}

function isOfSameConnection([first]: readonly PartPlanned[], { connections, piece }: PartPlanned): boolean {
  return piece !== undefined && first?.piece !== undefined && first.connections?.[0] === connections?.[0];
}

function hasRoom(
  { rows, parts }: { rows: number; parts: readonly PartPlanned[] },
  part: PartPlanned,
): boolean {
  if ([...parts, part].some(({ piece }) => piece !== undefined)) return false;
  return rows + part.rows <= rowsOfBatch && parts.length < partsOfBatch;
}

/**
 * Writes batches to Parquet files of a folder, several concurrently, and reads each file back. Throws SnapshotBroken if rows, sums or types
 * differ from the database's.
 */
export async function writeBatches(
  { readers }: DatabaseSnapshot,
  input: {
    batches: readonly Batch[];
    unfit: UnfitPlanned;
    /** The space for unfit values that is left in the manifest. */
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
    readers.map(async (client, place) => ({
      client,
      duckDb: await openDuckDb({ spillFolder }),
      draft: `.batch-${place}`,
      pipes: new NamedPipes(scratch, String(place)),
    })),
  );
  const written: { parts: PartFilled[]; unfit: Unfit[] } = { parts: [], unfit: [] };
  const largestFirst = [...batches].sort((one, other) => (other.rows ?? 0) - (one.rows ?? 0));
  try {
    await forEachConcurrently(largestFirst, workers, async (batch, worker) => {
      const at = { ...worker, draft: join(folder, worker.draft), folder, partBytes, nameFile };
      const write = async (one: Batch, from: SnapshotTable): Promise<readonly string[]> => {
        const { parts, unfitColumns } = await writeBatch(at, one, from);
        for (const { part, files } of parts)
          written.parts.push({ part, files: files.map((file) => ({ ...file, since: snapshotId })) });
        return unfitColumns;
      };
      const rows = rowsOfParts(batch.table, batch.parts);
      const unfitColumns = await write(batch, batch.table);
      const listings = batch.parts.flatMap((part) => unfit.partFor(part) ?? []);
      if (listings.length > 0 && (unfitColumns.length > 0 || listings.some(needsFile)))
        await write(
          { table: unfit.table, parts: listings, rows: undefined },
          selectUnfitRows(rows, unfitColumns),
        );
      for (const part of batch.parts) onWritten(part);
      written.unfit.push(...(await listUnfit(worker.client, { table: rows, unfitColumns, room })));
    });
    return written;
  } finally {
    for (const { duckDb } of workers) duckDb.close();
    for (const { draft } of workers) await removeIn(folder, draft);
  }
}

/** Undefined: all. */
function connectionsIn({ parts }: Batch): readonly string[] | undefined {
  const connections = parts.map((part) => part.connections);
  return connections.includes(undefined)
    ? undefined
    : [...new Set(connections.flatMap((names) => names ?? []))];
}

/** The resources and folders for writing a batch. */
interface WritingPlace {
  readonly client: ClientBase;
  readonly duckDb: DuckDb;
  readonly draft: string;
  readonly pipes: NamedPipes;
  readonly folder: string;
  readonly partBytes: number | undefined;
  readonly nameFile: FileNames;
}

interface BatchWritten {
  readonly parts: readonly PartFilled[];
  /** Columns with values that do not fit. */
  readonly unfitColumns: readonly string[];
}

async function writeBatch(at: WritingPlace, batch: Batch, from: SnapshotTable): Promise<BatchWritten> {
  try {
    const { facts, names } = await writeFiles(at, batch, rowsOfParts(from, batch.parts));
    const back = await readBack(at.duckDb, { folder: at.draft, paths: names.flat() });
    compare(batch, facts, back);
    return { parts: await moveFiles(at, { batch, names, back }), unfitColumns: facts.unfitColumns };
  } catch (error) {
    throw withPlace(error, { table: batch.table.name, connections: connectionsIn(batch) });
  }
}

/** Returns the facts that the files must match, adjusted if a value does not fit. */
async function writeFiles(
  { client, duckDb, draft, pipes, partBytes }: WritingPlace,
  { table, parts }: Batch,
  rows: SnapshotTable,
): Promise<{ facts: TableMeasured; names: string[][] }> {
  const facts = await measureTable(client, rows);
  const write = ({ unfitColumns }: TableMeasured): Promise<string[][]> =>
    writeTable(duckDb, {
      table: { name: table.name, columns: rows.columns },
      folder: draft,
      parts: parts.length === 1 ? undefined : { column: partColumn.name, numbers: partNumbers(parts) },
      pipes,
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
    columns: columnTypes(table),
    sums: Object.fromEntries(Object.entries(facts.sums).map(([name, sum]) => [name, exactSum(sum)])),
  };
  const problems = tableDifferences(table.name, expected, tableOfFiles(columns, files));
  if (problems.length > 0) throw new SnapshotBroken(problems.join(', '));
}

/** Renames the files of a batch to their names in the snapshot. */
async function moveFiles(
  { draft, folder, nameFile }: WritingPlace,
  {
    batch: { table, parts, rows: counted },
    names,
    back,
  }: {
    batch: Batch;
    /** The names, part by part. */
    names: readonly string[][];
    back: FilesBack;
  },
): Promise<PartFilled[]> {
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
