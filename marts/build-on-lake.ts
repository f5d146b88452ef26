import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { quoted } from '../lake/parquet/duck-db.ts';
import { keptBack } from '../lake/errors.ts';
import { removeScratch } from '../lake/files/remove-scratch.ts';
import { openOwnLake, type LakeOwner } from '../lake/own-lake.ts';
import type { BuildLock } from '../warehouse/marts/build-lock.ts';
import { buildFolder, buildScratch, removeLeftovers } from './build-folder.ts';
import type { BuildSettings, MartsBuilt } from './build-settings.ts';
import type { FinishedMarts } from './copy-into-postgres.ts';
import { MartsOlder } from './errors.ts';
import { localSnapshot } from './local-snapshot.ts';
import { publishOnLake } from './publish-on-lake.ts';
import { pythonWithDbt } from './python-with-dbt.ts';
import { runDbt } from './run-dbt.ts';
import { canonicalZone } from './today-in.ts';
import { showInIceberg } from './show-in-iceberg.ts';
import { withFinishedMarts } from './with-finished-marts.ts';
import { writeSeedTemplates } from './write-seed-templates.ts';

/**
 * Builds and tests the marts on the latest snapshot, in a DuckDB database of this process. Puts them into the lake as Parquet, and into Iceberg
 * tables if there are any. Throws PythonMissing, NoSnapshot, SnapshotDamaged, MartsFailed, MartsOlder, IcebergFailed, and the errors of the
 * lake.
 */
export async function buildOnLake(
  lock: BuildLock,
  { lake: location, owner, iceberg, onFinished, ...settings }: BuildSettings & LakePlaces,
): Promise<MartsBuilt> {
  const started = performance.now();
  const python = await pythonWithDbt(settings);
  const folder = buildFolder(settings.home, 'lake');
  const seedsFolder = join(settings.home, 'seeds');
  const scratch = buildScratch(settings.home);
  await removeLeftovers(settings.home);
  await mkdir(scratch, { recursive: true, mode: 0o700 });
  const lake = await openOwnLake({ location, scratch, assertHeld: lock.assertHeld }, owner);
  try {
    // A location without snapshots of ours may be anybody's, with all its files.
    const snapshot = await localSnapshot(lake, scratch);
    await lock.assertHeld();
    const kept = await keptBack(() => lake.removeLeftovers('marts'));
    if (kept !== undefined) settings.onStep(kept.message);
    const database = join(scratch, 'marts.duckdb');
    settings.onStep(`marts are being built on snapshot ${snapshot.id}`);
    const result = await runDbt({
      ...settings,
      python,
      seedsFolder,
      folder,
      connections: Infinity,
      output: {
        type: 'duckdb',
        path: database,
        schema: 'main',
        // No model depends on the order of its rows: preserving it would fill a table with one thread after the other, from memory.
        settings: { TimeZone: 'UTC', preserve_insertion_order: 'false' },
      },
      secrets: {},
      login: {},
      vars: {
        daybook_api_address: settings.apiAddress,
        daybook_as_of_date: settings.asOfDate,
        daybook_reporting_timezone: canonicalZone(settings.timeZone),
        // Relative to dbt's working directory, so that a user's path with a quote in it is not part of any statement.
        daybook_snapshot: 'scratch/snapshot',
      },
    });
    const { asOfDate } = settings;
    await writeTemplates({ seedsFolder, database, scratch });
    settings.onStep('the marts are being put into the lake');
    const built = {
      database,
      snapshotId: snapshot.id,
      takenAt: snapshot.takenAt,
      asOfDate,
      scratch,
    };
    const marts = await publishOnLake(lake, built);
    if (marts === undefined) throw new MartsOlder(location, snapshot.id);
    if (iceberg !== undefined)
      await showInIceberg(lock, lake, { ...settings, ...iceberg, scratch: join(scratch, 'iceberg') });
    const seconds = (performance.now() - started) / 1000;
    const done: MartsBuilt = {
      target: 'lake',
      snapshot_id: snapshot.id,
      as_of_date: asOfDate,
      marts,
      ...result,
      seconds,
    };
    await onFinished?.(done, {
      ...built,
      lock,
      manifestSha256: snapshot.manifestSha256,
      manifestFile: join(folder, 'target', 'manifest.json'),
    });
    return done;
  } finally {
    await lake.close();
    await removeScratch(scratch, lock.assertHeld);
  }
}

interface LakePlaces {
  readonly lake: string;
  readonly owner: LakeOwner;
  /** The database of the Iceberg catalog, and whether its tables show the marts even if there are none yet. Absent: Iceberg is skipped. */
  readonly iceberg?: { readonly databaseUrl: string; readonly add: boolean } | undefined;
  /** Called once readers see them, while their database still exists. */
  readonly onFinished?: (built: MartsBuilt, marts: FinishedMarts) => Promise<void>;
}

async function writeTemplates(built: {
  seedsFolder: string;
  database: string;
  scratch: string;
}): Promise<void> {
  await withFinishedMarts(built, async (connection) => {
    await connection.run('use built');
    await writeSeedTemplates(built.seedsFolder, async (query, file) => {
      await connection.run(`copy (${query}) to ${quoted(file)} (format csv, header)`);
    });
  });
}
