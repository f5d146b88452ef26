import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buildScratch, clearBuilds, clearTemplates, removeLeftovers } from '../marts/build-folder.ts';
import { removeEach } from '../lake/remove-each.ts';
import { temporaryFolder } from '../lake/temporary-folder.ts';
import { openOwnLake } from '../lake/own-lake.ts';
import { martsPointerPath } from '../marts/publish-on-lake.ts';
import { clearSparkNamespace, sparkNamespaces } from '../marts/spark-namespaces.ts';
import { withBuildLock } from '../warehouse/marts/build-lock.ts';
import { forgetMarts } from '../warehouse/marts/forget-marts.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { lakeOwner } from '../warehouse/snapshots/lake-owner.ts';
import { openExportSession } from '../warehouse/snapshots/open-snapshot.ts';
import type { Settings } from '../config/settings.ts';

type Places = Pick<Settings, 'database' | 'lake' | 'marts'>;

/** Of whom places are, and where. */
interface Host {
  readonly settings: Places;
  readonly warehouse: Warehouse;
}

/**
 * Removes from this host's disk what holds content of records and is made again when it is needed: snapshots that were downloaded,
 * what builds and exports wrote, lists for the user to fill in. Throws BuildRunning, ExportRunning, and, once the disk is clear, ForeignLake.
 */
export async function clearHost(host: Host): Promise<void> {
  await clearExports(host.settings);
  await clearMarts(host);
}

/** The same of builds alone, for who does not let an export run meanwhile. Throws BuildRunning, and, once the disk is clear, ForeignLake and LakeKeeps. */
export async function clearMarts(host: Host): Promise<void> {
  const { database, marts } = host.settings;
  const databaseUrl = database.directUrl;
  await withBuildLock({ databaseUrl, target: 'lake' }, () => clearBuilds(marts.home, 'lake'));
  await withBuildLock({ databaseUrl, target: 'postgres' }, () => clearBuilds(marts.home, 'postgres'));
  await withBuildLock({ databaseUrl, target: 'spark' }, () => clearBuilds(marts.home, 'spark'));
  await clearTemplates(join(marts.home, 'seeds'));
  await rm(temporaryFolder(marts.home), { recursive: true, force: true });
  await withBuildLock({ databaseUrl, target: 'lake' }, () => removeUnfinishedMarts(host));
}

/** Removes the marts from the lake: readers find none there. Throws BuildRunning, ForeignLake, and, once the rest is gone, LakeKeeps. */
export async function dropLakeMarts({
  settings: { database, lake: places, marts },
  warehouse,
}: Host): Promise<void> {
  await withBuildLock({ databaseUrl: database.directUrl, target: 'lake' }, async () => {
    const scratch = buildScratch(marts.home);
    const lake = await openOwnLake({ location: places.location, scratch }, await lakeOwner(warehouse));
    try {
      // First what leads readers to them.
      await removeEach([() => lake.removeFile(martsPointerPath), () => lake.removeFolder('marts')]);
    } finally {
      await lake.close();
    }
    await forgetMarts(warehouse, 'lake');
  });
}

/** Removes what Spark has written, from the catalog and from the lake. Says whether readers saw any. Throws BuildRunning, ForeignLake, and, once the rest is gone, LakeKeeps. */
export async function dropSparkMarts({
  settings: { database, lake: places, marts },
  warehouse,
}: Host): Promise<boolean> {
  const scratch = join(marts.home, 'dbt', 'spark', 'scratch');
  return withBuildLock({ databaseUrl: database.directUrl, target: 'spark' }, async ({ inSession }) => {
    const lake = await openOwnLake({ location: places.location, scratch }, await lakeOwner(warehouse));
    try {
      await inSession((client) =>
        removeEach(
          [sparkNamespaces.marts, sparkNamespaces.build].map(
            (namespace) => () => clearSparkNamespace(client, lake, namespace),
          ),
        ),
      );
    } finally {
      await lake.close();
    }
    return forgetMarts(warehouse, 'spark');
  });
}

/** Removes what processes that were killed here left behind. Throws BuildRunning, ExportRunning. */
export async function clearLeftovers(places: Places): Promise<void> {
  const { database, marts } = places;
  await clearExports(places);
  await withBuildLock({ databaseUrl: database.directUrl, target: 'lake' }, () => removeLeftovers(marts.home));
}

async function clearExports({ database, lake: { scratch } }: Places): Promise<void> {
  const session = await openExportSession(database.directUrl);
  try {
    await rm(scratch, { recursive: true, force: true });
  } finally {
    await session.close();
  }
}

async function removeUnfinishedMarts({ settings, warehouse }: Host): Promise<void> {
  const { location } = settings.lake;
  const scratch = buildScratch(settings.marts.home);
  const lake = await openOwnLake({ location, scratch }, await lakeOwner(warehouse));
  try {
    await lake.removeLeftovers('marts');
  } finally {
    await lake.close();
    await rm(scratch, { recursive: true, force: true });
  }
}
