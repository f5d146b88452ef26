import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { keptBack, LakeAltered, LakeRefused, SnapshotBroken, type LakeKeeps } from '../../lake/errors.ts';
import type { Lake } from '../../lake/lake.ts';
import { manifestFile } from '../../lake/lake.ts';
import {
  filesWrittenFor,
  manifestText,
  sha256Of,
  sizesOf,
  countUnfit,
  type Manifest,
} from '../../lake/manifest/manifest.ts';
import { removeScratch } from '../../lake/files/remove-scratch.ts';
import { openLake } from '../../lake/open-lake.ts';
import { requireOwnLake } from '../../lake/own-lake.ts';
import { movePointer, readManifest } from '../../lake/manifest/pointer.ts';
import { retireSnapshots } from '../../lake/snapshots/retire-snapshots.ts';
import { lakeOwnerIn } from '../../warehouse/snapshots/lake-owner.ts';
import { noteSnapshot } from '../../warehouse/snapshots/note-snapshot.ts';
import { readPublishedIds } from '../../warehouse/snapshots/unsearched-snapshots.ts';
import { snapshotTables } from '../../warehouse/snapshots/snapshot-tables.ts';
import { unfitTable } from '../../warehouse/snapshots/unfit-table.ts';
import {
  openExportSession,
  type DatabaseSnapshot,
  type ExportSession,
} from '../../warehouse/snapshots/open-snapshot.ts';
import { findBase, readCurrent, sameSnapshot, unknownMark, type Current } from './current-snapshot.ts';
import type { ExportJob, Exported, ExportProgress } from './export-job.ts';
import { findClockProblem } from './find-clock-problem.ts';
import { fillDraft, type DraftFilled } from './fill-draft.ts';
import { planParts, usualSizes, type PartPlanned, type PartSizes, type TablePlanned } from './plan-parts.ts';
import { removeSnapshot } from './remove-snapshot.ts';
import { showInIceberg } from './show-in-iceberg.ts';
import {
  combineMarks,
  weighAllTables,
  weighDecidingTables,
  type TablesWeighed,
  type WeighedByName,
} from './weigh-tables.ts';
import { bytesNeeded, withRoom } from './with-room.ts';

/**
 * Makes the snapshot of a run and publishes it, once. If a killed attempt has already published it, it is found; leftovers of a killed
 * attempt are removed. Throws ForeignLake.
 */
export async function makeSnapshot(
  job: ExportJob,
  onProgress: (progress: ExportProgress) => void,
): Promise<Exported> {
  const session = await openExportSession(job.databaseUrl);
  const { assertAlive: assertHeld } = session;
  const lake = await openLake({ location: job.lake, scratch: job.scratch, assertHeld });
  try {
    await requireOwnLake(lake, lakeOwnerIn(session.client, job.warehouseId));
    const leftovers = await clean({ session, lake }, job);
    const current = await readCurrent({ session, lake });
    const published = await readPublished(lake, job);
    const result =
      published === undefined
        ? await exportTables({ session, lake }, { job, current, onProgress })
        : { manifest: published, skipped: false };
    const isLatest = result.skipped || (await settle({ session, lake }, result));
    const clockProblem = isLatest ? undefined : await findClockProblem({ session, lake });
    // Also if nothing has changed: the rule may have, and days have passed.
    const notRemoved = await retire({ session, lake }, job);
    const inIceberg = await showInIceberg({ session, lake }, job, result.manifest.snapshot_id);
    const kept = leftovers ?? notRemoved;
    return {
      ...describeExport(result),
      ...(isLatest ? {} : { isBehind: true as const }),
      ...(clockProblem === undefined ? {} : { clockProblem }),
      ...inIceberg,
      ...(kept === undefined ? {} : { removalProblem: kept.message }),
    };
  } catch (error) {
    // Without the lock a failure says nothing: the next attempt may have removed what this one wrote.
    await assertHeld();
    throw error;
  } finally {
    await removeScratch(job.scratch, assertHeld);
    await lake.close();
    await session.close();
  }
}

interface Made {
  manifest: Manifest;
  skipped: boolean;
  mark?: string;
  /** The damage of the snapshot that readers saw until now. */
  damage?: string;
}

/** Removes leftovers. If storage refuses to delete some, the export continues nevertheless. */
async function clean(
  { session, lake }: { session: ExportSession; lake: Lake },
  { scratch }: ExportJob,
): Promise<LakeKeeps | undefined> {
  await rm(scratch, { recursive: true, force: true });
  await mkdir(scratch, { recursive: true, mode: 0o700 });
  const published = await readPublishedIds(session.client);
  return keptBack(() => lake.removeLeftovers('snapshots', published));
}

async function readPublished(lake: Lake, { snapshotId }: ExportJob): Promise<Manifest | undefined> {
  return (await lake.snapshotIds()).includes(snapshotId) ? readManifest(lake, snapshotId) : undefined;
}

async function exportTables(
  { session, lake }: { session: ExportSession; lake: Lake },
  input: {
    job: ExportJob;
    current: Current | undefined;
    onProgress: (progress: ExportProgress) => void;
  },
): Promise<Made> {
  const { job, current, onProgress } = input;
  const { sizes = usualSizes } = job;
  const snapshot = await session.openSnapshot({ readers: Math.max(1, job.databaseConnections - 1) });
  try {
    const deciding = await weighDecidingTables(snapshot, { sizes, onProgress });
    const mark = combineMarks(deciding);
    const same = await sameSnapshot(lake, { job, current, mark });
    if (same?.manifest !== undefined && same.damage === undefined) {
      await letGo({ session, snapshot }, deciding);
      return { manifest: same.manifest, skipped: true };
    }
    const weighed = await weighAllTables(snapshot, deciding, { sizes, onProgress });
    const { scratch, snapshotId } = job;
    const base = findBase(current, job);
    const planned = planTables(weighed, { sizes, base, origin: session.origin });
    const neededBytes = await bytesNeeded(session.client, { planned, base, current: current?.manifest });
    const write = async (folder: string): Promise<Manifest> => {
      const onFilled = createProgressReporter(weighed, { planned, onProgress });
      const filled = await fillDraft({ snapshot, lake }, { job, folder, planned, base, onFilled });
      await letGo({ session, snapshot }, deciding);
      const described = buildManifest(job, { takenAt: snapshot.takenAt, weighed, filled });
      await writeFile(join(folder, manifestFile), manifestText(described), { flag: 'wx' });
      const { total } = weighed;
      onProgress({ ...total, tablesDone: total.tables, rowsDone: total.rows, step: 'publishing' });
      await lake.publish(snapshotId, splitFiles(described));
      return described;
    };
    const place = { folder: lake.draftFolder(snapshotId), scratch, neededBytes };
    const manifest = await withRoom(place, () => lake.withDraft(snapshotId, write));
    return { manifest, skipped: false, mark, ...(same?.damage === undefined ? {} : { damage: same.damage }) };
  } catch (error) {
    // The weights kept by an earlier export may be wrong, and then every attempt would fail like this one. Without a server they need not be cleared.
    if (error instanceof SnapshotBroken) await session.forgetWeights().catch(() => undefined);
    throw error;
  } finally {
    await snapshot.close();
  }
}

/** Closes the database snapshot, and keeps the weights for the next export. */
async function letGo(
  { session, snapshot }: { session: ExportSession; snapshot: DatabaseSnapshot },
  deciding: WeighedByName,
): Promise<void> {
  await snapshot.release();
  await session.keepWeights([...deciding.values()].flatMap(({ weights }) => weights ?? []));
}

function planTables(
  { tables }: TablesWeighed,
  input: { sizes: PartSizes; base: Manifest | undefined; origin: string },
): TablePlanned[] {
  const { sizes, base, origin } = input;
  return snapshotTables.map((table) => {
    const weighed = tables.get(table.name);
    if (weighed === undefined) throw new Error(`Table ${table.name} was not weighed.`);
    return planParts(table, { weighed, origin, before: base?.tables[table.name], sizes });
  });
}

/** Reports progress after each finished part. */
function createProgressReporter(
  { total }: TablesWeighed,
  {
    planned,
    onProgress,
  }: { planned: readonly TablePlanned[]; onProgress: (progress: ExportProgress) => void },
): (part: PartPlanned) => void {
  const left = new Map(planned.flatMap((one) => one.parts.map((part) => [part, one] as const)));
  const missing = new Map(planned.map((one) => [one, one.parts.length]));
  const progress = { ...total, tablesDone: 0, rowsDone: 0, step: 'writing' as const };
  return (part) => {
    const table = left.get(part);
    if (table === undefined) return;
    const parts = (missing.get(table) ?? 0) - 1;
    missing.set(table, parts);
    if (parts === 0) progress.tablesDone += 1;
    progress.rowsDone += part.rows;
    onProgress({ ...progress });
  };
}

function buildManifest(
  job: ExportJob,
  { takenAt, weighed, filled }: { takenAt: string; weighed: TablesWeighed; filled: DraftFilled },
): Manifest {
  const { tables, unfit } = filled;
  return {
    snapshot_id: job.snapshotId,
    run_id: job.runId,
    warehouse_id: job.warehouseId,
    taken_at: takenAt,
    product_version: job.productVersion,
    schema_version: weighed.schemaVersion,
    rows: sumTables(tables, 'rows'),
    bytes: sumTables(tables, 'bytes'),
    tables,
    watermarks: weighed.watermarks,
    unfit,
    unfit_values: tables[unfitTable.name]?.rows ?? 0,
  };
}

function splitFiles(manifest: Manifest): { written: Map<string, string>; kept: string[] } {
  const written = new Map(filesWrittenFor(manifest).map(({ path, sha256 }) => [path, sha256]));
  const paths = Object.values(manifest.tables).flatMap(({ files }) => files.map(({ path }) => path));
  return { written, kept: paths.filter((path) => !written.has(path)) };
}

function sumTables(tables: Manifest['tables'], what: 'rows' | 'bytes'): number {
  return Object.values(tables).reduce((sum, table) => sum + table[what], 0);
}

/** Moves the pointer to a published snapshot and records it. Idempotent. Returns whether readers are now sent to this snapshot. */
async function settle(
  { session, lake }: { session: ExportSession; lake: Lake },
  { manifest, mark }: Made,
): Promise<boolean> {
  const isLatest = await movePointer(lake, manifest);
  await session.assertAlive();
  await noteSnapshot(session.client, {
    lake: lake.location,
    manifest,
    manifestSha256: sha256Of(manifestText(manifest)),
    mark: mark ?? unknownMark,
    sizes: sizesOf(manifest),
  });
  return isLatest;
}

/** Marks and removes snapshots that the rule no longer keeps. Returns the problem if storage refuses to delete some. */
async function retire(
  { session, lake }: { session: ExportSession; lake: Lake },
  { keep: rule, warehouseId }: ExportJob,
): Promise<Error | undefined> {
  await session.assertAlive();
  const remove = (id: string): Promise<void> => removeSnapshot(session.client, lake, id);
  try {
    return (await retireSnapshots(lake, { rule, warehouseId, now: new Date(), remove })).problem;
  } catch (error) {
    // The published snapshot must reach Iceberg tables and marts, even if older ones cannot be removed.
    if (error instanceof LakeRefused || error instanceof LakeAltered) return error;
    throw error;
  }
}

function describeExport({ manifest, skipped, damage }: Made): Exported {
  return {
    snapshotId: manifest.snapshot_id,
    skipped,
    tables: Object.keys(manifest.tables).length,
    rows: manifest.rows,
    bytes: manifest.bytes,
    bytesWritten: skipped ? 0 : sizesOf(manifest).bytesAdded,
    unfit: countUnfit(manifest),
    takenAt: manifest.taken_at,
    ...(damage === undefined ? {} : { damage }),
  };
}
