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
  /** Rows of the record that the old one holds. */
  readonly rows: number;
  /** Storage did not remove the old one. */
  readonly isKept: boolean;
}

type Republished = Omit<SnapshotErased, 'isKept'>;

export interface WhileErasing {
  /** Brings along what else is built on the snapshots. */
  readonly follow: (erased: readonly Republished[]) => Promise<void>;
  /**
   * Hears of each removal that storage refuses, of each snapshot that cannot be read or is not found, of files beside those of one, and of what
   * stands in the way of Iceberg tables: the rest is done all the same.
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
  /** Hears of Iceberg tables that are made again. */
  readonly onStep?: (text: string) => void;
}

/**
 * Publishes the snapshots that hold a record without it, lets `follow` bring along what else is built on them, and removes the
 * old ones, also from Iceberg tables. What storage keeps of one holds up nothing else, and neither does one that cannot be read. No export
 * runs meanwhile. Throws ExportRunning, and what the lake throws.
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
  { follow, onKept, onStep }: WhileErasing,
): Promise<SnapshotErased[]> {
  const owner = await lakeOwner(warehouse);
  const session = await openExportSession(database.directUrl, { isErasure: true });
  const folder = join(scratch, 'erase');
  // What exports that were killed here left.
  await rm(scratch, { recursive: true, force: true });
  const lake = await openLake({ location, scratch: folder });
  const duckDb = await openDuckDb({ spillFolder: join(folder, 'spill') });
  try {
    await requireOwnLake(lake, owner);
    const isOurs = await isOurLake(session.client, lake);
    const published = await readPublishedIds(session.client);
    // In a place that may be anybody's, what lacks its _SUCCESS may be a copy without empty files: it is named below.
    const mayBeWhole = isOurs ? [] : await lake.foldersIn('snapshots');
    const left = await keptBack(() =>
      lake.removeLeftovers('snapshots', new Set([...published, ...mayBeWhole])),
    );
    if (left !== undefined) onKept(left);
    const republished = await republish({ session, lake, duckDb }, rowsOf(record, owner), onKept);
    await follow(republished);
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
  } finally {
    duckDb.close();
    await lake.close();
    await rm(folder, { recursive: true, force: true });
    await session.close();
  }
}

/**
 * What was published here and is not here: the lake of another host may have the same name. And what may have been published and is not
 * complete: Postgres may have been restored to before it was.
 */
async function notFound({ client }: ExportSession, lake: Lake): Promise<SnapshotsUnsearched[]> {
  const complete = new Set(await lake.snapshotIds());
  const [noted] = await readNoted(client, { lake: lake.location });
  const lost = (noted?.ids ?? []).filter((id) => !complete.has(id));
  const there = await filterConcurrently(8, lost, (id) => lake.isThere(`snapshots/${id}`));
  const missing = lost.filter((id) => !there.includes(id));
  const withFiles = (await lake.foldersIn('snapshots')).filter((id) => !complete.has(id));
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
      // No export takes files of one that may be anybody's, and each erasure looks into it.
      manifestSha256: isKnown ? sha256Of(manifestText(manifest)) : '',
      // The tables are other ones now: the next export is not skipped.
      mark: '',
      sizes: sizesOf(manifest),
    });
  const erasing = { manifests, note, assertHeld: session.assertAlive, onUnread };
  const rewritten = await eraseFromSnapshots(lake, duckDb, rows, erasing);
  return rewritten.map(({ from, manifest, erased }) => ({ from, to: manifest.snapshot_id, rows: erased }));
}

/** What an erasure looks for in snapshots. */
export function rowsOf(
  { connectionId, resource: { name, children }, id }: RecordNamed,
  { warehouseId }: Pick<RowsToErase, 'warehouseId'>,
): RowsToErase {
  return {
    warehouseId,
    connectionId,
    id,
    columns: {
      [name]: 'id',
      ...Object.fromEntries(children.map(({ table, parentKey }) => [table, parentKey])),
      ...(name === 'subscriptions'
        ? { subscription_item_versions: 'subscription_id', deleted_subscriptions: 'subscription_id' }
        : {}),
    },
  };
}
