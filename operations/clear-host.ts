import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buildScratch, clearBuilds, clearTemplates, removeLeftovers } from '../marts/build-folder.ts';
import { removeEach } from '../lake/remove-each.ts';
import { snapshotIdPattern } from '../lake/snapshot-id.ts';
import { temporaryFolder } from '../lake/temporary-folder.ts';
import { openOwnLake } from '../lake/own-lake.ts';
import { martsPointerPath } from '../marts/publish-on-lake.ts';
import { clearSparkNamespace, sparkNamespaces } from '../marts/spark-namespaces.ts';
import { withBuildLock } from '../warehouse/marts/build-lock.ts';
import { forgetMarts } from '../warehouse/marts/forget-marts.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import type { MartsTarget } from '../warehouse/tables/marts.ts';
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
 * what builds and exports wrote, lists for the user to fill in. Throws BuildRunning, ExportRunning, and, once the disk is clear, ForeignLake and LakeKeeps.
 */
export async function clearHost(host: Host): Promise<void> {
  await clearExports(host.settings);
  await clearLakeBuilds(host);
  await clearBuildsOf(host, 'spark');
  // Last of all that is on this disk: a build may be waiting for readers.
  await clearBuildsOf(host, 'postgres');
  await removeUnfinishedMarts(host);
}

/** The same of builds on the lake alone, for who does not let an export run meanwhile. Throws BuildRunning, and, once the disk is clear, ForeignLake and LakeKeeps. */
export async function clearLakeMarts(host: Host): Promise<void> {
  await clearLakeBuilds(host);
  await removeUnfinishedMarts(host);
}

/** What builds of a target have on this host's disk beside what they share. Throws BuildRunning. */
export async function clearBuildsOf(
  { settings: { database, marts } }: Host,
  target: MartsTarget,
): Promise<void> {
  await withBuildLock({ databaseUrl: database.directUrl, target }, () => clearBuilds(marts.home, target));
}

/** Whether the lake has marts, or readers are led to some. Throws ForeignLake. */
export async function hasLakeMarts({ settings: { lake: places, marts }, warehouse }: Host): Promise<boolean> {
  const scratch = buildScratch(marts.home);
  const lake = await openOwnLake({ location: places.location, scratch }, await lakeOwner(warehouse));
  try {
    if ((await lake.read(martsPointerPath)) !== undefined) return true;
    const folders = (await lake.filesIn('marts')).map((path) => path.slice(0, path.indexOf('/')));
    return folders.some((name) => snapshotIdPattern.test(name));
  } finally {
    await lake.close();
  }
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

async function clearLakeBuilds(host: Host): Promise<void> {
  const { home } = host.settings.marts;
  await clearBuildsOf(host, 'lake');
  await clearTemplates(join(home, 'seeds'));
  await rm(temporaryFolder(home), { recursive: true, force: true });
}

async function removeUnfinishedMarts({ settings, warehouse }: Host): Promise<void> {
  const { location } = settings.lake;
  const scratch = buildScratch(settings.marts.home);
  await withBuildLock({ databaseUrl: settings.database.directUrl, target: 'lake' }, async () => {
    const lake = await openOwnLake({ location, scratch }, await lakeOwner(warehouse));
    try {
      await lake.removeLeftovers('marts');
    } finally {
      await lake.close();
      await rm(scratch, { recursive: true, force: true });
    }
  });
}
