import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ForeignLake } from '../../lake/errors.ts';
import { findDamage } from '../../lake/find-damage.ts';
import type { Lake } from '../../lake/lake.ts';
import { manifestFile } from '../../lake/lake.ts';
import { manifestText, sha256Of, type Manifest } from '../../lake/manifest.ts';
import { openLake } from '../../lake/open-lake.ts';
import { lookAtManifest, lookAtPointer, movePointer, pointerPath, readManifest } from '../../lake/pointer.ts';
import { retireSnapshots } from '../../lake/retire-snapshots.ts';
import { noteSnapshot, noteSnapshotsRemoved, readMark } from '../../warehouse/snapshots/note-snapshot.ts';
import { openExportSession, type ExportSession } from '../../warehouse/snapshots/open-snapshot.ts';
import type { ExportJob, Exported, ExportProgress } from './export-job.ts';
import { withRoom } from './with-room.ts';
import { markOf, measureTables, type TablesMeasured } from './measure-tables.ts';
import { writeTables, type TablesWritten } from './write-tables.ts';

/**
 * Makes the snapshot of a run and publishes it, once: what an attempt that was killed has published already is found, and
 * what it left half done is removed.
 */
export async function makeSnapshot(
  job: ExportJob,
  onProgress: (progress: ExportProgress) => void,
): Promise<Exported> {
  const session = await openExportSession(job.databaseUrl);
  const lake = await openLake({ location: job.lake, scratch: job.scratch });
  try {
    await clean(lake, job);
    const current = await readCurrent({ session, lake }, job);
    const published = await readPublished(lake, job);
    const result =
      published === undefined
        ? await exportTables({ session, lake }, { job, current, onProgress })
        : { manifest: published, skipped: false };
    if (!result.skipped) await settle({ session, lake }, { job, ...result });
    return exportedOf(result);
  } finally {
    await rm(job.scratch, { recursive: true, force: true });
    await lake.close();
    await session.close();
  }
}

interface Made {
  manifest: Manifest;
  skipped: boolean;
  mark?: string;
  /** What was wrong with the snapshot that readers saw until now. */
  damage?: string;
}

/** The snapshot that readers see now. */
interface Current {
  /** Undefined when it cannot be read. */
  manifest: Manifest | undefined;
  /** What is known to be wrong with it, before its files were looked at. */
  damage?: string;
}

async function clean(lake: Lake, { scratch }: ExportJob): Promise<void> {
  await rm(scratch, { recursive: true, force: true });
  await mkdir(scratch, { recursive: true, mode: 0o700 });
  await lake.removeLeftovers('snapshots');
}

/** Undefined before the first snapshot. Throws ForeignLake. */
async function readCurrent(
  { session, lake }: { session: ExportSession; lake: Lake },
  { warehouseId }: ExportJob,
): Promise<Current | undefined> {
  const pointer = await lookAtPointer(lake);
  const named = pointer?.value?.snapshot_id;
  const id = named ?? (pointer && (await lake.snapshotIds()).at(-1));
  if (id === undefined) return undefined;
  const manifest = (await lookAtManifest(lake, id))?.value;
  const isOurs =
    manifest === undefined
      ? (await readMark(session.client, id)) !== undefined
      : manifest.warehouse_id === warehouseId;
  if (!isOurs) throw new ForeignLake(lake.location);
  return { manifest, ...(named === undefined ? { damage: `${pointerPath} cannot be read` } : {}) };
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
  const snapshot = await session.openSnapshot({ readers: Math.max(1, job.databaseConnections - 1) });
  try {
    const measured = await measureTables(snapshot, onProgress);
    const mark = markOf(measured.tables);
    const same = await sameSnapshot({ session, lake }, { job, current, mark });
    if (same?.manifest !== undefined && same.damage === undefined)
      return { manifest: same.manifest, skipped: true };
    const folder = lake.draftFolder(job.snapshotId);
    const { scratch, partBytes } = job;
    const manifest = await withRoom(
      session.client,
      { folder, scratch, current: current?.manifest },
      async () => {
        const written = await writeTables(snapshot, { folder, scratch, partBytes, measured, onProgress });
        await snapshot.release();
        const described = manifestOf(job, { takenAt: snapshot.takenAt, measured, written });
        await writeFile(join(folder, manifestFile), manifestText(described), { flag: 'wx' });
        const { total } = measured;
        onProgress({ ...total, tablesDone: total.tables, rowsDone: total.rows, step: 'publishing' });
        // Who has lost the lock has lost the right to publish: another one may be at it.
        await session.assertAlive();
        await lake.publish(job.snapshotId, filesOf(described));
        return described;
      },
    );
    return { manifest, skipped: false, mark, ...(same?.damage === undefined ? {} : { damage: same.damage }) };
  } finally {
    await snapshot.close();
  }
}

/**
 * What readers see, if it shows what the tables hold now: whole, or with its damage. It is looked at only then, file by file, because
 * any other is replaced in any case.
 */
async function sameSnapshot(
  { session, lake }: { session: ExportSession; lake: Lake },
  { job, current, mark }: { job: ExportJob; current: Current | undefined; mark: string },
): Promise<Current | undefined> {
  if (current === undefined || job.force) return undefined;
  if (current.damage !== undefined) return current;
  const { manifest } = current;
  if (manifest === undefined) return { manifest, damage: `${manifestFile} cannot be read` };
  if ((await readMark(session.client, manifest.snapshot_id)) !== mark) return undefined;
  const [first, ...more] = (await findDamage(lake, manifest.snapshot_id)).problems;
  if (first === undefined) return current;
  return { manifest, damage: more.length === 0 ? first : `${first}, and ${more.length} more` };
}

function manifestOf(
  job: ExportJob,
  { takenAt, measured, written }: { takenAt: string; measured: TablesMeasured; written: TablesWritten },
): Manifest {
  const { tables, unfit } = written;
  return {
    snapshot_id: job.snapshotId,
    run_id: job.runId,
    warehouse_id: job.warehouseId,
    taken_at: takenAt,
    product_version: job.productVersion,
    schema_version: measured.schemaVersion,
    rows: sumOf(tables, 'rows'),
    bytes: sumOf(tables, 'bytes'),
    tables,
    watermarks: measured.watermarks,
    unfit,
  };
}

function filesOf({ tables }: Manifest): string[] {
  return Object.values(tables).flatMap(({ files }) => files.map(({ path }) => path));
}

function sumOf(tables: Manifest['tables'], what: 'rows' | 'bytes'): number {
  return Object.values(tables).reduce((sum, table) => sum + table[what], 0);
}

/** What follows from a published snapshot; done again it changes nothing. */
async function settle(
  { session, lake }: { session: ExportSession; lake: Lake },
  { job, manifest, mark }: { job: ExportJob } & Made,
): Promise<void> {
  await session.assertAlive();
  await movePointer(lake, manifest);
  await noteSnapshot(session.client, {
    lake: lake.location,
    manifest,
    manifestSha256: sha256Of(manifestText(manifest)),
    // Of one that an earlier attempt published nobody knows: the next export is not skipped.
    mark: mark ?? '',
  });
  const { removed } = await retireSnapshots(lake, { rule: job.keep, now: new Date() });
  await noteSnapshotsRemoved(session.client, removed);
}

function exportedOf({ manifest, skipped, damage }: Made): Exported {
  return {
    snapshotId: manifest.snapshot_id,
    skipped,
    tables: Object.keys(manifest.tables).length,
    rows: manifest.rows,
    bytes: manifest.bytes,
    unfit: manifest.unfit.length,
    takenAt: manifest.taken_at,
    ...(damage === undefined ? {} : { damage }),
  };
}
