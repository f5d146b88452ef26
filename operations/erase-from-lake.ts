import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { removeSnapshot } from '../activities/export/remove-snapshot.ts';
import type { IcebergUnsearched, TablesElsewhere, TablesUnknown } from '../iceberg/errors.ts';
import { openDuckDb, type DuckDb } from '../lake/parquet/duck-db.ts';
import {
  keptBack,
  type FilesBeside,
  type LakeAltered,
  type LakeKeeps,
  type SnapshotDamaged,
} from '../lake/errors.ts';
import {
  eraseFromSnapshots,
  type Erasing,
  type RowsToErase,
} from '../lake/snapshots/erase-from-snapshots.ts';
import type { Lake } from '../lake/lake.ts';
import { manifestText, sha256Of, sizesOf } from '../lake/manifest/manifest.ts';
import { filterConcurrently } from '../lake/map-concurrently.ts';
import { removeScratch } from '../lake/files/remove-scratch.ts';
import { openLake } from '../lake/open-lake.ts';
import { requireOwnLake } from '../lake/own-lake.ts';
import type { RecordNamed } from '../warehouse/erase/erase-record.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { lakeOwner } from '../warehouse/snapshots/lake-owner.ts';
import { noteSnapshot, readManifestHashes } from '../warehouse/snapshots/note-snapshot.ts';
import { openExportSession, type ExportSession } from '../warehouse/snapshots/open-snapshot.ts';
import { readNoted, readPublishedIds, readSearched } from '../warehouse/snapshots/unsearched-snapshots.ts';
import { eraseFromIceberg } from './erase-from-iceberg.ts';
import { isOurLake } from './is-our-lake.ts';
import { SnapshotsUnsearched } from './snapshots-unsearched.ts';
import type { Settings } from '../config/settings.ts';

export interface SnapshotErased {
  readonly from: string;
  readonly to: string;
  /** The number of the record's rows in the old one. */
  readonly rows: number;
  /** Whether storage refused to remove the old one. */
  readonly isKept: boolean;
}

type Republished = Omit<SnapshotErased, 'isKept'>;

export interface WhileErasing {
  /** Updates everything else that is built on the snapshots. */
  readonly updateDependents: (erased: readonly Republished[]) => Promise<void>;
  /**
   * Receives each removal that storage refuses, each snapshot that cannot be read or found, files beside those of a snapshot, and whatever
   * prevents the update of Iceberg tables: the rest is done nevertheless.
   */
  readonly onKept: (
    problem:
      | FilesBeside
      | IcebergUnsearched
      | LakeAltered
      | LakeKeeps
      | SnapshotDamaged
      | SnapshotsUnsearched
      | TablesElsewhere
      | TablesUnknown,
  ) => void;
  /** Receives messages about recreated Iceberg tables. */
  readonly onStep?: (text: string) => void;
}

/**
 * Republishes the snapshots that hold a record without it, lets `updateDependents` update everything else that is built on them, and removes the old
 * ones, also from Iceberg tables. A refused removal, or an unreadable snapshot, does not hold up the rest. No export runs meanwhile. Throws
 * ExportRunning, and the errors of the lake.
 */
export async function eraseFromLake(
  {
    settings: {
      database,
      lake: { location, scratch },
      marts: { cacheFolder },
    },
    warehouse,
  }: { settings: Settings; warehouse: Warehouse },
  record: RecordNamed,
  { updateDependents, onKept, onStep }: WhileErasing,
): Promise<SnapshotErased[]> {
  const owner = await lakeOwner(warehouse);
  const session = await openExportSession(database.directUrl, { isErasure: true });
  const folder = join(scratch, 'erase');
  // Leftovers of killed exports on this host.
  await rm(scratch, { recursive: true, force: true });
  const lake = await openLake({ location, scratch: folder, assertHeld: session.assertAlive });
  const duckDb = await openDuckDb({ spillFolder: join(folder, 'spill') });
  try {
    await requireOwnLake(lake, owner);
    const isOurs = await isOurLake(session.client, lake);
    const published = await readPublishedIds(session.client);
    // In a place that may be anybody's, a snapshot without _SUCCESS may be a copy that lacks empty files: it is reported below.
    const mayBeWhole = isOurs ? [] : await lake.foldersIn('snapshots');
    const left = await keptBack(() =>
      lake.removeLeftovers('snapshots', new Set([...published, ...mayBeWhole])),
    );
    if (left !== undefined) onKept(left);
    const republished = await republish({ session, lake, duckDb }, buildRowsToErase(record, owner), onKept);
    await updateDependents(republished);
    await session.assertAlive();
    const erased: SnapshotErased[] = [];
    for (const one of republished) {
      const kept = await keptBack(() => removeSnapshot(session.client, lake, one.from));
      if (kept !== undefined) onKept(kept);
      erased.push({ ...one, isKept: kept !== undefined });
    }
    for (const lost of await notFound(session, lake)) onKept(lost);
    const again = 'daybook erase';
    const places = { databaseUrl: database.directUrl, cacheFolder, scratch: folder, again, onStep };
    const searched = await readSearched(session.client, record);
    await eraseFromIceberg({ client: session.client, lake, owner, isOurs, places, searched }, onKept);
    return erased;
  } catch (error) {
    // Without the lock a failure says nothing.
    await session.assertAlive();
    throw error;
  } finally {
    duckDb.close();
    await lake.close();
    await removeScratch(folder, session.assertAlive);
    await session.close();
  }
}

/**
 * Returns snapshots that were published here but are missing, as the lake of another host may have the same name, and snapshots that may have
 * been published but are incomplete, as Postgres may have been restored to an earlier state.
 */
async function notFound({ client }: ExportSession, lake: Lake): Promise<SnapshotsUnsearched[]> {
  const complete = new Set(await lake.snapshotIds());
  const [noted] = await readNoted(client, { lake: lake.location });
  const lost = (noted?.ids ?? []).filter((id) => !complete.has(id));
  const there = await filterConcurrently(8, lost, (id) => lake.isThere(`snapshots/${id}`));
  const missing = lost.filter((id) => !there.includes(id));
  const others = (await lake.foldersIn('snapshots')).filter((id) => !complete.has(id));
  const withFiles = await filterConcurrently(8, others, (id) => lake.hasFilesIn(`snapshots/${id}`));
  const incomplete = [...new Set([...there, ...withFiles])].sort().reverse();
  return [
    { became: 'missing', ids: missing } as const,
    { became: 'incomplete', ids: incomplete } as const,
  ].flatMap(({ became, ids }) =>
    ids.length === 0 ? [] : [new SnapshotsUnsearched({ lake: lake.location, ids }, became)],
  );
}

async function republish(
  { session, lake, duckDb }: { session: ExportSession; lake: Lake; duckDb: DuckDb },
  rows: RowsToErase,
  onUnread: WhileErasing['onKept'],
): Promise<Republished[]> {
  const manifests = await readManifestHashes(session.client);
  const note: Erasing['note'] = (manifest, { isKnown }) =>
    noteSnapshot(session.client, {
      lake: lake.location,
      manifest,
      // No export reuses files of a snapshot that may be anybody's, and each erasure searches it.
      manifestSha256: isKnown ? sha256Of(manifestText(manifest)) : '',
      // The tables have changed: the next export is not skipped.
      mark: '',
      sizes: sizesOf(manifest),
    });
  const erasing = { manifests, note, onUnread };
  const rewritten = await eraseFromSnapshots(lake, duckDb, rows, erasing);
  return rewritten.map(({ from, manifest, erased }) => ({ from, to: manifest.snapshot_id, rows: erased }));
}

/** The rows that an erasure looks for in snapshots. */
export function buildRowsToErase(
  { connectionId, resource: { name, children }, id }: RecordNamed,
  { warehouseId }: Pick<RowsToErase, 'warehouseId'>,
): RowsToErase {
  return {
    warehouseId,
    connectionId,
    id,
    columns: {
      [name]: 'id',
      field_issues: 'id',
      waiting_deletions: 'id',
      ...Object.fromEntries(children.map(({ table, parentKey }) => [table, parentKey])),
      ...(name === 'subscriptions'
        ? { subscription_item_versions: 'subscription_id', deleted_subscriptions: 'subscription_id' }
        : {}),
    },
  };
}
