import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf } from '../../errors/code-of.ts';
import { named, quoted, type DuckDb } from '../parquet/duck-db.ts';
import { FilesBeside, LakeAltered, SnapshotDamaged } from '../errors.ts';
import { filesBeside } from './find-damage.ts';
import { manifestFile, type Lake } from '../lake.ts';
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
import { withSnapshotFile } from './with-snapshot-file.ts';
import { parquetOptions } from '../parquet/write-table.ts';

/** The rows in snapshots that hold content of one record. */
export interface RowsToErase {
  /** The owner of the snapshots: another warehouse's stay unchanged. */
  readonly warehouseId: string;
  readonly connectionId: string;
  readonly id: string;
  /** The column that identifies the record, by table. */
  readonly columns: Readonly<Record<string, string>>;
}

export interface Rewritten {
  /** The old snapshot. It exists until nothing names it. */
  readonly from: string;
  readonly manifest: Manifest;
  /** The number of rows that the new one lacks. */
  readonly erased: number;
}

/** The database's part in an erasure from snapshots. */
export interface Erasing {
  /** The SHA-256 of the known manifests, by snapshot: a manifest that was changed since may not list all contents of its snapshot. */
  readonly manifests?: ReadonlyMap<string, string>;
  /** Notes a published snapshot before a pointer names it. If its source was not known, that may be anybody's. */
  readonly note?: (manifest: Manifest, from: { isKnown: boolean }) => Promise<void>;
  /**
   * Receives a snapshot that cannot be read, or files beside those of one that stays; all other snapshots are searched nevertheless. Without it
   * the problem is thrown.
   */
  readonly onUnread?: (problem: FilesBeside | LakeAltered | SnapshotDamaged) => void;
}

/**
 * Republishes every snapshot of the warehouse that holds such rows without them, under an ID of the same time, and moves the pointer. Idempotent,
 * also after a kill. Expects that no export runs. Throws FilesBeside, LakeAltered and SnapshotDamaged.
 */
export async function eraseFromSnapshots(
  lake: Lake,
  duckDb: DuckDb,
  rows: RowsToErase,
  erasing: Erasing = {},
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
      // A republished snapshot's folder is removed with everything in it, so only folders that stay are checked.
      const beside = await filesBeside(lake, manifest);
      if (beside === 'too many' || beside.length > 0) throw new FilesBeside(lake.location, id, beside);
    });
  const rewritten: Rewritten[] = [];
  for (const one of found)
    await unlessUnread(erasing, async () => {
      const manifest = await rewrite(lake, duckDb, { ...one, clean, rows, erasing });
      rewritten.push({ from: one.manifest.snapshot_id, manifest, erased: one.erased });
    });
  // Once, when all are published: the pointer then never names one that is about to be removed.
  const next = await snapshotToPointTo(lake, { rewritten, clean });
  if (next !== undefined) await movePointer(lake, next);
  return rewritten;
}

/**
 * Returns the snapshot that the pointer should name: the current one without such rows. If there is no current one, the newest of all searched
 * ones that is not dated more than a day ahead; the newest with such rows may be months old. Undefined if nothing is to change.
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

/** A snapshot with such rows. */
interface Holding {
  readonly manifest: Manifest;
  /** The number of such rows, by file path. */
  readonly held: ReadonlyMap<string, number>;
  readonly erased: number;
}

/** Undefined if it belongs to another warehouse. */
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

/** Undefined if it holds no such rows. */
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

/** Publishes a snapshot without such rows. */
async function rewrite(
  lake: Lake,
  duckDb: DuckDb,
  input: Pick<Holding, 'manifest' | 'held'> & {
    /** Searched snapshots without such rows. */
    clean: ReadonlySet<string>;
    rows: RowsToErase;
    erasing: Erasing;
  },
): Promise<Manifest> {
  const { manifest, held, clean, rows, erasing } = input;
  const { manifests = new Map<string, string>(), note } = erasing;
  for (let attempt = 0; ; attempt += 1) {
    const to = idWithout(manifest.snapshot_id, rows, { attempt, place: lake.location });
    // Left by an erasure that was killed. A snapshot that was not noted may be anybody's: its ID is predictable.
    const own = manifests.has(to) && clean.has(to) ? (await findManifest(lake, to))?.value : undefined;
    if (own === undefined && (await lake.isThere(`snapshots/${to}`))) continue;
    const now =
      own ??
      (await lake.withDraft(to, (folder) =>
        publishWithout(lake, duckDb, { manifest, to, folder, held, rows }),
      ));
    await note?.(now, { isKnown: manifests.has(manifest.snapshot_id) });
    return now;
  }
}

/**
 * Returns an ID of the same time, so that retention and pointers treat the new snapshot like the old one. It is the same for each call in that
 * place, unless something else exists there.
 */
export function idWithout(
  id: string,
  { connectionId, id: record, columns }: Omit<RowsToErase, 'warehouseId'>,
  { attempt, place }: { attempt: number; place: string },
): string {
  const rows = `${connectionId}/${Object.keys(columns).join(',')}/${record}`;
  return `${id.slice(0, -6)}${sha256Of(`${id} in ${place} without ${rows}, ${attempt}`).slice(0, 6)}`;
}

/** Counts such rows by file path; files without any are left out. */
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
    const count = await unlessFull({ id, path }, () =>
      withSnapshotFile(lake, duckDb, { id, file, use: countIn }),
    );
    return [path, count] as const;
  });
  return new Map(counted.filter(([, count]) => count > 0));
}

/** While one file waits for a bucket or is hashed, others proceed: at 10,000 connections a snapshot has some 25,000 files. */
const filesAtOnce = 8;

async function publishWithout(
  lake: Lake,
  duckDb: DuckDb,
  input: {
    manifest: Manifest;
    to: string;
    /** The folder of the draft. */
    folder: string;
    held: ReadonlyMap<string, number>;
    rows: RowsToErase;
  },
): Promise<Manifest> {
  const { manifest, to, folder, held, rows } = input;
  const { snapshot_id: from } = manifest;
  const all = Object.entries(manifest.tables).flatMap(([table, { files }]) => {
    const isOther = files.some(({ path }) => held.has(path));
    // The sums of each file are needed then, which releases before 0.6 did not record.
    return files.map((file) => ({ table, file, mayStay: file.sums !== undefined || !isOther }));
  });
  const isKept = await mapConcurrently(
    filesAtOnce,
    all,
    async ({ file, mayStay }) =>
      mayStay &&
      !held.has(file.path) &&
      lake.keep({ id: from, files: [file] }, { id: to, paths: [file.path] }),
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
    // A table without such rows keeps its sums, even if the sums of its files are unknown.
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
  await lake.publish(to, { written, kept });
  return described;
}

/** Rewrites or copies a file that could not be kept as it is. */
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
    /** Whether its sums are known, or not needed. */
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
    withSnapshotFile(lake, duckDb, {
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
    // A row without a connection, which Daybook does not write, counts neither as the record's nor as another's.
    throw new SnapshotDamaged(id, path);
  return { ...back, since: to };
}

/** The condition for the record's rows. Rows about it in the table of unfit values are its content too. */
function condition({ connectionId, id, columns }: RowsToErase, table: string): string {
  const ofConnection = `connection_id = ${quoted(connectionId)}`;
  const tables = `(${Object.keys(columns).map(quoted).join(', ')})`;
  if (table === unfitTableName)
    return `${ofConnection} and record_id = ${quoted(id)} and table_name in ${tables}`;
  const ofRecord = `${ofConnection} and ${named(columns[table] ?? '')} = ${quoted(id)}`;
  return ofAnyResource.has(table) ? `${ofRecord} and resource in ${tables}` : ofRecord;
}

/** Tables with rows of every resource: another one may have a record of the same ID. */
const ofAnyResource: ReadonlySet<string> = new Set(['field_issues', 'waiting_deletions']);

function isOfErased(
  { connectionId, id, columns }: RowsToErase,
  { table, key }: Manifest['unfit'][number],
): boolean {
  return key.connection_id === connectionId && key[columns[table] ?? ''] === id;
}

/** Returns the first number of the result. */
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
  /** The ID of the snapshot. */
  readonly id: string;
  readonly path: string;
}

/**
 * Throws SnapshotDamaged if DuckDB cannot read the file: a file with the right hash may hold anything, even data that exhausts memory. If the
 * disk is full, the other snapshots report it too.
 */
async function asked<Result>({ id, path }: FileNamed, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    // Matches only the beginning: the rest quotes names of columns.
    const hasNoRoom = /^(Error: )?(Out of Memory|IO) Error/.test(String(error));
    throw new SnapshotDamaged(id, path, hasNoRoom ? noRoom : undefined);
  }
}

/** A file may be as large as its own manifest says, so a full disk counts as damage. */
async function unlessFull<Result>({ id, path }: FileNamed, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw codeOf(error) === 'ENOSPC' ? new SnapshotDamaged(id, path, noRoom) : error;
  }
}

const noRoom = 'needs more memory or disk than there is';
