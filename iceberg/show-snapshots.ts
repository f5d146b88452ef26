import { setTimeout as wait } from 'node:timers/promises';
import { SnapshotDamaged } from '../lake/errors.ts';
import type { KeptFile, Lake } from '../lake/lake.ts';
import { mapConcurrently } from '../lake/map-concurrently.ts';
import { nearIds, ownIds, type LakeOwner } from '../lake/own-lake.ts';
import { lookAtManifest } from '../lake/manifest/pointer.ts';
import { sha256OfFile } from '../lake/parquet/read-back.ts';
import { isFarAhead } from '../lake/manifest/snapshot-id.ts';
import { IcebergFailed } from './errors.ts';
import {
  dataPath,
  runTablesProgram,
  type FilesListed,
  type Namespace,
  type ProgramPlaces,
  type SnapshotToAdd,
  type TablesJob,
  type TablesShown,
} from './tables-program.ts';

/** A snapshot, and its files by table, which lie at their paths in the lake. */
export interface SnapshotFiles {
  readonly id: string;
  readonly takenAt: string;
  readonly tables: Readonly<Record<string, readonly FileToShow[]>>;
}

export interface FileToShow extends KeptFile {
  readonly rows: number;
  /** Whether it was just written: an existing file of the same name may be damaged. */
  readonly isNew: boolean;
}

export interface WhatToShow {
  /** Whether missing snapshots are added to the tables; snapshots that the lake lacks are removed in any case. */
  readonly add: boolean;
  /** Whether this is an erasure: then unreferenced files, and tables that list removed files, are removed everywhere. */
  readonly sweep?: boolean;
  readonly onCommitted?: (table: string) => void;
}

/**
 * Makes the tables show all snapshots of the warehouse in the lake, except damaged ones, which it returns, and those dated more than a day ahead,
 * which would stay the newest for readers until then. A sweep compares the tables' files of a snapshot with its manifest. Throws the errors of
 * `runTablesProgram`.
 */
export async function showSnapshots(
  lake: Lake,
  places: ProgramPlaces,
  { owner, newest, ...what }: WhatToShow & { owner: LakeOwner; newest: string | undefined },
): Promise<TablesShown> {
  const { warehouseId } = owner;
  const read = (ids: readonly string[]): Promise<SnapshotFiles[]> =>
    readSnapshots(lake, ids, { warehouseId, newest });
  const namespace = 'finance';
  if (what.sweep !== true) {
    const kept = await ownIds(lake, owner);
    let unreadable: string[] = [];
    const readMissing = async (missing: readonly string[]): Promise<SnapshotFiles[]> => {
      const found = await read(missing);
      const lacking = missing.filter((id) => !found.some((one) => one.id === id));
      unreadable = await unreadableAmong(lake, lacking);
      return found;
    };
    const toShow = { namespace, kept, read: readMissing, mustHave: newest, ...what } as const;
    const shown = await show(lake, places, toShow);
    return { ...shown, left: [...shown.left, ...unreadable].sort() };
  }
  const all = await read(await nearIds(lake));
  return show(lake, places, {
    namespace,
    kept: all.map(({ id }) => id),
    read: (missing) => Promise.resolve(all.filter(({ id }) => missing.includes(id))),
    manifests: Object.fromEntries(all.map(({ id, tables }) => [id, filesListed(tables)])),
    mustHave: newest,
    ...what,
  });
}

/** Leaves out snapshots whose manifest cannot be read, is another warehouse's, or is dated more than a day ahead. */
async function readSnapshots(
  lake: Lake,
  ids: readonly string[],
  { warehouseId, newest }: { warehouseId: string; newest: string | undefined },
): Promise<SnapshotFiles[]> {
  const read = await mapConcurrently(filesAtOnce, ids, async (id): Promise<SnapshotFiles[]> => {
    const manifest = (await lookAtManifest(lake, id))?.value;
    if (manifest?.warehouse_id !== warehouseId || isFarAhead(Date.parse(manifest.taken_at))) return [];
    const { taken_at: takenAt, tables } = manifest;
    const filesToShow = (files: (typeof tables)[string]['files']): FileToShow[] =>
      files.map(({ path, bytes, sha256, rows, since }) => ({
        path: `snapshots/${id}/${path}`,
        bytes,
        sha256,
        rows,
        isNew: id === newest && since === id,
      }));
    const shown = Object.entries(tables).map(([name, { files }]) => [name, filesToShow(files)] as const);
    return [{ id, takenAt, tables: Object.fromEntries(shown) }];
  });
  return read.flat();
}

/** Returns the snapshots whose manifest is not as Daybook wrote it, or may not be read. */
async function unreadableAmong(lake: Lake, ids: readonly string[]): Promise<string[]> {
  const seen = await mapConcurrently(filesAtOnce, ids, async (id) =>
    (await lookAtManifest(lake, id))?.altered === undefined ? [] : [id],
  );
  return seen.flat();
}

function filesListed(tables: SnapshotFiles['tables']): FilesListed {
  const listed = Object.entries(tables).map(([name, files]) => [
    name,
    files.filter(({ rows }) => rows > 0).map(({ sha256 }) => sha256),
  ]);
  return Object.fromEntries(listed) as FilesListed;
}

/**
 * Makes the tables of marts show newly built `marts`, unless their snapshot is dated more than a day ahead, and removes marts of removed
 * snapshots. A sweep is done even if `marts` cannot be shown: the next build shows them.
 */
export async function showMarts(
  lake: Lake,
  places: ProgramPlaces,
  { marts, ...what }: WhatToShow & { marts: SnapshotFiles | undefined },
): Promise<TablesShown> {
  const near = marts === undefined || isFarAhead(Date.parse(marts.takenAt)) ? [] : [marts];
  const read = (): Promise<SnapshotFiles[]> => Promise.resolve(near);
  const mustHave = what.sweep === true ? undefined : marts?.id;
  return show(lake, places, { namespace: 'marts', kept: await nearIds(lake), read, mustHave, ...what });
}

async function show(
  lake: Lake,
  places: ProgramPlaces,
  what: WhatToShow & {
    namespace: Namespace;
    kept: readonly string[];
    read: (missing: readonly string[]) => Promise<SnapshotFiles[]>;
    manifests?: TablesJob['manifests'];
    mustHave: string | undefined;
  },
): Promise<TablesShown> {
  const { namespace, kept, add, sweep = false, read, manifests, mustHave, onCommitted } = what;
  let damaged: string[] = [];
  const answer = async (missing: readonly string[]): Promise<SnapshotToAdd[]> => {
    // The program has the lock of the tables by now: if the writer still has its own, what is kept is what was kept when it got it.
    await lake.assertHeld();
    damaged = [];
    const snapshots = add ? (await read(missing)).filter(({ id }) => kept.includes(id)) : [];
    if (snapshots.length === 0) return [];
    const wanted = new Set(snapshots.flatMap((one) => wantedFiles(namespace, one).map(({ to }) => to)));
    // Anyone with write access to the lake may have put any number of others there.
    const paths = await lake.filesIn('iceberg', (path) => wanted.has(`iceberg/${path}`));
    const there = new Set(paths.map((path) => `iceberg/${path}`));
    const added: SnapshotToAdd[] = [];
    for (const snapshot of snapshots) {
      const isWhole = await shareFiles(lake, { namespace, snapshot, there });
      if (isWhole) added.push(toAdd(snapshot));
      else if (snapshot.id === mustHave) throw new SnapshotDamaged(snapshot.id, 'a file');
      // Only the marts of one snapshot are ever added, and the next build makes them again.
      else if (namespace === 'finance') damaged.push(snapshot.id);
    }
    return added;
  };
  for (let attempt = 1; ; attempt += 1) {
    // If one of several tables could not be swept, the next attempt finds it.
    const job = {
      lake: lake.location,
      namespace,
      check: false,
      kept,
      newest: mustHave,
      sweep: sweep || attempt > 1,
      erases: sweep,
      manifests,
    };
    try {
      const shown = await runTablesProgram(places, job, { answer, onCommitted });
      return { ...shown, left: [...shown.left, ...damaged].sort() };
    } catch (error) {
      if (!(error instanceof IcebergFailed) || attempt === attempts) throw error;
      await wait(5_000);
      await lake.assertHeld();
    }
  }
}

/** Storage or Postgres may have been unavailable for a moment. */
const attempts = 3;

/** Adds the tables' names for a snapshot's files, which stay when the snapshot is removed. Returns whether all files are intact. */
async function shareFiles(
  lake: Lake,
  { namespace, snapshot, there }: { namespace: Namespace; snapshot: SnapshotFiles; there: Set<string> },
): Promise<boolean> {
  const shared = await mapConcurrently(
    filesAtOnce,
    wantedFiles(namespace, snapshot),
    async ({ file, to }) => {
      if (there.has(to) && !file.isNew) return true;
      const isShared = (await lake.share(file, to)) || (await copyByHand(lake, file, to));
      if (isShared) there.add(to);
      return isShared;
    },
  );
  return !shared.includes(false);
}

function wantedFiles(namespace: Namespace, { tables }: SnapshotFiles): { file: FileToShow; to: string }[] {
  return Object.entries(tables).flatMap(([table, files]) =>
    files.map((file) => ({ file, to: dataPath(namespace, table, file.sha256) })),
  );
}

/** Objects of releases before 0.6 lack their SHA-256 as metadata, so the bucket itself cannot copy them. */
async function copyByHand(lake: Lake, file: KeptFile, to: string): Promise<boolean> {
  const used = await lake.withFile(file, async (localPath) => {
    const isIt = (await sha256OfFile(localPath, file.bytes)) === file.sha256;
    if (isIt) await lake.putFile(to, localPath);
    return isIt;
  });
  return used.problem === undefined && used.result;
}

function toAdd({ id, takenAt, tables }: SnapshotFiles): SnapshotToAdd {
  const named = Object.entries(tables).map(([name, files]) => [
    name,
    files.map(({ sha256, rows }) => ({ sha256, rows })),
  ]);
  return { snapshot_id: id, taken_at: takenAt, tables: Object.fromEntries(named) as SnapshotToAdd['tables'] };
}

/** While one file is hashed, or waits for a bucket, others proceed. */
const filesAtOnce = 8;
