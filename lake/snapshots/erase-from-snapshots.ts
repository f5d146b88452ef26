import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from '../../errors/code-of.ts';
import { named, quoted, type DuckDb } from '../parquet/duck-db.ts';
import { FilesBeside, LakeAltered, SnapshotDamaged } from '../errors.ts';
import { filesBeside } from './find-damage.ts';
import { manifestFile, type AssertHeld, type Lake } from '../lake.ts';
import {
  manifestText,
  sha256Of,
  tableOfFiles,
  unfitTableName,
  type Manifest,
  type ManifestFile,
  type ManifestTable,
} from '../manifest/manifest.ts';
import { mapConcurrently } from '../map-concurrently.ts';
import { parquetRows } from '../parquet/parquet-rows.ts';
import {
  findManifest,
  lookAtManifest,
  lookAtPointer,
  manifestPath,
  movePointer,
} from '../manifest/pointer.ts';
import { readBack } from '../parquet/read-back.ts';
import { copyRegularFile } from '../files/regular-file.ts';
import { isFarAhead, timeOfSnapshot } from '../manifest/snapshot-id.ts';
import { withFileOf } from './with-file-of.ts';
import { parquetOptions } from '../parquet/write-table.ts';

/** The rows of snapshots that hold content of one record. */
export interface RowsToErase {
  /** Whose snapshots: another's are left as they are. */
  readonly warehouseId: string;
  readonly connectionId: string;
  readonly id: string;
  /** The column that names the record, by table. */
  readonly columns: Readonly<Record<string, string>>;
}

export interface Rewritten {
  /** It is still there: it goes when nothing names it any more. */
  readonly from: string;
  readonly manifest: Manifest;
  /** Rows that the new one has less. */
  readonly erased: number;
}

/** What else knows of the snapshots, and has a part in it. */
export interface Erasing {
  /** The SHA-256 of the manifests that are known, by snapshot: one that somebody has changed since may not say all that its snapshot holds. */
  readonly manifests?: ReadonlyMap<string, string>;
  /** Throws when an export may run. */
  readonly assertHeld: AssertHeld;
  /** Notes one that was published, before anything leads readers to it. What it was made from may be anybody's, unless that was known. */
  readonly note?: (manifest: Manifest, from: { isKnown: boolean }) => Promise<void>;
  /**
   * Hears of a snapshot that cannot be read, and of files beside those of one that stays: all others are searched all the same. Without it that is
   * thrown.
   */
  readonly onUnread?: (problem: FilesBeside | LakeAltered | SnapshotDamaged) => void;
}

/**
 * Publishes every snapshot of the warehouse that holds such rows once more without them, under an ID of the same time, and lets the pointer
 * follow. Killed anywhere and called again it goes on. Expects that no export runs. Throws FilesBeside, LakeAltered and SnapshotDamaged.
 */
export async function eraseFromSnapshots(
  lake: Lake,
  duckDb: DuckDb,
  rows: RowsToErase,
  erasing: Erasing,
): Promise<Rewritten[]> {
  const found: Holding[] = [];
  const clean = new Set<string>();
  for (const id of await lake.snapshotIds())
    await unlessUnread(erasing, async () => {
      const manifest = await readOwn(lake, { id, rows, erasing });
      if (manifest === undefined) return;
      const one = await search(lake, duckDb, { manifest, rows });
      if (one !== undefined) {
        found.push(one);
        return;
      }
      clean.add(id);
      // What is published again takes its folder with it, whatever is in that.
      const beside = await filesBeside(lake, manifest);
      if (beside === 'too many' || beside.length > 0) throw new FilesBeside(lake.location, id, beside);
    });
  const rewritten: Rewritten[] = [];
  for (const one of found)
    await unlessUnread(erasing, async () => {
      const manifest = await rewrite(lake, duckDb, { ...one, clean, rows, erasing });
      rewritten.push({ from: one.manifest.snapshot_id, manifest, erased: one.erased });
    });
  // Once, when all are there: none that is about to be removed is named then.
  const next = await snapshotToPointTo(lake, { rewritten, clean });
  if (next !== undefined) await movePointer(lake, next, erasing.assertHeld);
  return rewritten;
}

/**
 * What readers are to be led to: what they are led to, without such rows. Where they are led nowhere, the newest of all that were searched, but
 * none of years ahead: the newest of those that held such rows may be months old. Undefined where nothing is to change.
 */
async function snapshotToPointTo(
  lake: Lake,
  { rewritten, clean }: { rewritten: readonly Rewritten[]; clean: ReadonlySet<string> },
): Promise<Manifest | undefined> {
  if (rewritten.length === 0) return undefined;
  const named = (await lookAtPointer(lake))?.value?.snapshot_id;
  const follows = rewritten.find(({ from }) => from === named)?.manifest;
  if (follows !== undefined) return follows;
  if (named !== undefined && (await lookAtManifest(lake, named)) !== undefined) return undefined;
  let newest: Manifest | undefined;
  for await (const manifest of searched(lake, { rewritten, clean }))
    if (newest === undefined || manifest.taken_at > newest.taken_at) newest = manifest;
  return newest;
}

async function* searched(
  lake: Lake,
  { rewritten, clean }: { rewritten: readonly Rewritten[]; clean: ReadonlySet<string> },
): AsyncGenerator<Manifest> {
  const isNear = ({ snapshot_id: id, taken_at: at }: Manifest): boolean =>
    [timeOfSnapshot(id), Date.parse(at)].every((time) => !isFarAhead(time));
  yield* rewritten.map(({ manifest }) => manifest).filter(isNear);
  for (const id of clean) {
    const manifest = (await lookAtManifest(lake, id))?.value;
    if (manifest !== undefined && isNear(manifest)) yield manifest;
  }
}

async function unlessUnread({ onUnread }: Erasing, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const isUnread =
      error instanceof FilesBeside || error instanceof LakeAltered || error instanceof SnapshotDamaged;
    if (!isUnread || onUnread === undefined) throw error;
    onUnread(error);
  }
}

/** A snapshot that holds such rows. */
interface Holding {
  readonly manifest: Manifest;
  /** By the path of the file. */
  readonly held: ReadonlyMap<string, number>;
  readonly erased: number;
}

/** Undefined where it is another warehouse's. */
async function readOwn(
  lake: Lake,
  { id, rows, erasing: { manifests } }: { id: string; rows: RowsToErase; erasing: Erasing },
): Promise<Manifest | undefined> {
  const seen = await findManifest(lake, id);
  if (seen === undefined) throw new SnapshotDamaged(id, manifestFile);
  const { found, value: manifest } = seen;
  const known = manifests?.get(id);
  if (known !== undefined && known !== sha256Of(found.text))
    throw new LakeAltered(lake.location, manifestPath(id), []);
  return manifest.warehouse_id === rows.warehouseId ? manifest : undefined;
}

/** Undefined where it holds none. */
async function search(
  lake: Lake,
  duckDb: DuckDb,
  { manifest, rows }: { manifest: Manifest; rows: RowsToErase },
): Promise<Holding | undefined> {
  const held = await countRows(lake, duckDb, { manifest, rows });
  const erased = [...held.values()].reduce((sum, count) => sum + count, 0);
  if (erased === 0 && !manifest.unfit.some((one) => isOfErased(rows, one))) return undefined;
  return { manifest, held, erased };
}

/** The one without such rows. */
async function rewrite(
  lake: Lake,
  duckDb: DuckDb,
  input: Pick<Holding, 'manifest' | 'held'> & {
    /** Snapshots that were searched and hold none. */
    clean: ReadonlySet<string>;
    rows: RowsToErase;
    erasing: Erasing;
  },
): Promise<Manifest> {
  const { manifest, held, clean, rows, erasing } = input;
  const { manifests = new Map<string, string>(), note, assertHeld } = erasing;
  for (let attempt = 0; ; attempt += 1) {
    const to = idWithout(manifest.snapshot_id, rows, { attempt, place: lake.location });
    // Left by an erasure that was killed. A snapshot that was not noted may be anybody's: its ID can be predicted.
    const own = manifests.has(to) && clean.has(to) ? (await findManifest(lake, to))?.value : undefined;
    if (own === undefined && (await lake.isThere(`snapshots/${to}`))) continue;
    const now =
      own ??
      (await lake.withDraft(to, (folder) =>
        publishWithout(lake, duckDb, { manifest, to, folder, held, rows, assertHeld }),
      ));
    await note?.(now, { isKnown: manifests.has(manifest.snapshot_id) });
    return now;
  }
}

/**
 * Of the same time, so that retention and pointers take it for the old one; the same one whenever it is asked for in that place, unless
 * something else is there.
 */
export function idWithout(
  id: string,
  { connectionId, id: record, columns }: Omit<RowsToErase, 'warehouseId'>,
  { attempt, place }: { attempt: number; place: string },
): string {
  const rows = `${connectionId}/${Object.keys(columns).join(',')}/${record}`;
  return `${id.slice(0, -6)}${sha256Of(`${id} in ${place} without ${rows}, ${attempt}`).slice(0, 6)}`;
}

/** By the path of the file; those without are left out. */
async function countRows(
  lake: Lake,
  duckDb: DuckDb,
  { manifest, rows }: { manifest: Manifest; rows: RowsToErase },
): Promise<ReadonlyMap<string, number>> {
  const mayHold = Object.entries(manifest.tables).flatMap(([table, { files }]) =>
    rows.columns[table] === undefined && table !== unfitTableName
      ? []
      : files.map((file) => ({ table, file })),
  );
  const { snapshot_id: id } = manifest;
  const counted = await mapConcurrently(filesAtOnce, mayHold, async ({ table, file }) => {
    const { path } = file;
    const countIn = (localPath: string): Promise<number> =>
      asked({ id, path }, () =>
        ask(duckDb, `select count(*) from ${parquetRows([localPath])} where ${condition(rows, table)}`),
      );
    const count = await unlessFull({ id, path }, () => withFileOf(lake, duckDb, { id, file, use: countIn }));
    return [path, count] as const;
  });
  return new Map(counted.filter(([, count]) => count > 0));
}

/** While a bucket is waited for, or the hash of a file is taken, others go on: at 10,000 connections a snapshot has some 25,000 files. */
const filesAtOnce = 8;

async function publishWithout(
  lake: Lake,
  duckDb: DuckDb,
  input: {
    manifest: Manifest;
    to: string;
    /** Of the draft. */
    folder: string;
    held: ReadonlyMap<string, number>;
    rows: RowsToErase;
    assertHeld: AssertHeld;
  },
): Promise<Manifest> {
  const { manifest, to, folder, held, rows, assertHeld } = input;
  const { snapshot_id: from } = manifest;
  const all = Object.entries(manifest.tables).flatMap(([table, { files }]) => {
    const isOther = files.some(({ path }) => held.has(path));
    // The sums of each are needed then, which releases before 0.6 did not note.
    return files.map((file) => ({ table, file, mayStay: file.sums !== undefined || !isOther }));
  });
  const isKept = await mapConcurrently(
    filesAtOnce,
    all,
    async ({ file, mayStay }) =>
      mayStay &&
      !held.has(file.path) &&
      lake.keep({ id: from, files: [file] }, { id: to, paths: [file.path], assertHeld }),
  );
  const kept = all.filter((_, place) => isKept[place]).map(({ file }) => file.path);
  const now = new Map<string, ManifestFile>();
  // One after the other: a file may have rows of 60 MB.
  for (const one of all.filter((_, place) => !isKept[place]))
    now.set(one.file.path, await fileWithout(lake, duckDb, { ...input, ...one }));
  const written = new Map([...now].map(([path, { sha256 }]) => [path, sha256]));
  const tables: Record<string, ManifestTable> = {};
  for (const [name, table] of Object.entries(manifest.tables)) {
    const files = table.files.map((file) => now.get(file.path) ?? file);
    const { columns, groups } = table;
    // Without such rows the sums are what they were, also where those of each file are not known.
    tables[name] = files.every((file, place) => file === table.files[place])
      ? table
      : { ...tableOfFiles(columns, files), ...(groups === undefined ? {} : { groups }) };
  }
  const sum = (what: 'rows' | 'bytes'): number =>
    Object.values(tables).reduce((total, table) => total + table[what], 0);
  const described: Manifest = {
    ...manifest,
    snapshot_id: to,
    rows: sum('rows'),
    bytes: sum('bytes'),
    tables,
    unfit: manifest.unfit.filter((one) => !isOfErased(rows, one)),
    ...(tables[unfitTableName] === undefined ? {} : { unfit_values: tables[unfitTableName].rows }),
  };
  await writeFile(join(folder, manifestFile), manifestText(described), { flag: 'wx' });
  await lake.publish(to, { written, kept, assertHeld });
  return described;
}

/** A file that was not kept as it is, as it is in the new snapshot. */
async function fileWithout(
  lake: Lake,
  duckDb: DuckDb,
  input: {
    manifest: Manifest;
    to: string;
    held: ReadonlyMap<string, number>;
    rows: RowsToErase;
    folder: string;
    table: string;
    file: ManifestFile;
    /** Whether its sums are known, if they are needed. */
    mayStay: boolean;
  },
): Promise<ManifestFile> {
  const { manifest, to, held, rows, folder, table, file, mayStay } = input;
  const { snapshot_id: id } = manifest;
  const { path } = file;
  const count = held.get(path);
  const draft = join(folder, path);
  await mkdir(dirname(draft), { recursive: true });
  await unlessFull({ id, path }, () =>
    withFileOf(lake, duckDb, {
      id,
      file,
      use: async (localPath) => {
        if (count === undefined) return copyRegularFile(localPath, draft, file.bytes);
        const sql = `select * from ${parquetRows([localPath])} where not (${condition(rows, table)})`;
        await asked({ id, path }, () => ask(duckDb, `copy (${sql}) to ${quoted(draft)} (${parquetOptions})`));
      },
    }),
  );
  if (count === undefined && mayStay) return file;
  const [back] = (await asked({ id, path }, () => readBack(duckDb, { folder, paths: [path] }))).files;
  if (back?.rows !== file.rows - (count ?? 0))
    // A row that is of no connection, which Daybook does not write, is neither of the record nor of another.
    throw new SnapshotDamaged(id, path);
  return { ...back, since: to };
}

/** What the table of unfit values lists of a record is content of it. */
function condition({ connectionId, id, columns }: RowsToErase, table: string): string {
  const ofConnection = `connection_id = ${quoted(connectionId)}`;
  return table === unfitTableName
    ? `${ofConnection} and record_id = ${quoted(id)} and table_name in (${Object.keys(columns).map(quoted).join(', ')})`
    : `${ofConnection} and ${named(columns[table] ?? '')} = ${quoted(id)}`;
}

function isOfErased(
  { connectionId, id, columns }: RowsToErase,
  { table, key }: Manifest['unfit'][number],
): boolean {
  return key.connection_id === connectionId && key[columns[table] ?? ''] === id;
}

/** The first number of the answer. */
async function ask(duckDb: DuckDb, sql: string): Promise<number> {
  const connection = await duckDb.connect();
  try {
    const answer = await connection.runAndReadAll(sql);
    return Number(answer.getRows()[0]?.[0] ?? 0);
  } finally {
    connection.closeSync();
  }
}

interface FileNamed {
  /** Of the snapshot. */
  readonly id: string;
  readonly path: string;
}

/**
 * Throws SnapshotDamaged where DuckDB cannot read the file: one with the right hash may hold anything, also what takes all memory. Where the
 * disk is full, the other snapshots say so too.
 */
async function asked<Result>({ id, path }: FileNamed, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    // Only how it begins: the rest quotes names of columns.
    const hasNoRoom = /^(Error: )?(Out of Memory|IO) Error/.test(String(error));
    throw new SnapshotDamaged(id, path, hasNoRoom ? noRoom : undefined);
  }
}

/** A file has the size that its own manifest says. */
async function unlessFull<Result>({ id, path }: FileNamed, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw codeOf(error) === 'ENOSPC' ? new SnapshotDamaged(id, path, noRoom) : error;
  }
}

const noRoom = 'needs more memory or disk than there is';
