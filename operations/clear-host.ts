import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buildScratch, clearBuilds, clearTemplates, removeLeftovers } from '../marts/build-folder.ts';
import { TablesUnknown } from '../iceberg/errors.ts';
import type { Lake, LakeToOpen } from '../lake/lake.ts';
import { removeEach } from '../lake/storage/remove-each.ts';
import { removeScratch } from '../lake/files/remove-scratch.ts';
import { temporaryFolder } from '../lake/files/temporary-folder.ts';
import { openOwnLake } from '../lake/own-lake.ts';
import { MartsUnknown } from '../marts/errors.ts';
import { martsPointerPath } from '../marts/publish-on-lake.ts';
import { clearSparkNamespace, sparkNamespaces } from '../marts/spark-namespaces.ts';
import { withBuildLock } from '../warehouse/marts/build-lock.ts';
import { forgetMarts } from '../warehouse/marts/forget-marts.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import type { MartsTarget } from '../warehouse/tables/marts.ts';
import { lakeOwner } from '../warehouse/snapshots/lake-owner.ts';
import { openExportSession } from '../warehouse/snapshots/open-snapshot.ts';
import { isOurLake } from './is-our-lake.ts';
import type { Settings } from '../config/settings.ts';

type Places = Pick<Settings, 'database' | 'lake' | 'marts'>;

/** A host's settings, and the warehouse they belong to. */
interface Host {
  readonly settings: Places;
  readonly warehouse: Warehouse;
}

/**
 * Removes files from this host's disk that hold content of records and are recreated on demand: downloaded snapshots, output of builds and
 * exports, lists for the user to fill in. Throws BuildRunning, ExportRunning, and, once the disk is clear, ForeignLake and LakeKeeps.
 */
export async function clearHost(host: Host): Promise<void> {
  await clearExports(host.settings);
  await clearLakeBuilds(host);
  await clearTargetBuilds(host, 'spark');
  // Last of everything on this disk: a build may be waiting for readers.
  await clearTargetBuilds(host, 'postgres');
  await removeUnfinishedMarts(host);
}

/** Does so for builds on the lake alone, for holders of the export lock. Throws BuildRunning; once the disk is clear, ForeignLake, LakeKeeps. */
export async function clearLakeMarts(host: Host): Promise<void> {
  await clearLakeBuilds(host);
  await removeUnfinishedMarts(host);
}

/** Removes files of a target's builds from this host's disk, apart from shared ones. Throws BuildRunning. */
export async function clearTargetBuilds(
  { settings: { database, marts } }: Host,
  target: MartsTarget,
): Promise<void> {
  await withBuildLock({ databaseUrl: database.directUrl, target }, () => clearBuilds(marts.home, target));
}

/** Whether the lake has marts, or a pointer to some. Throws ForeignLake. */
export function hasLakeMarts(host: Host): Promise<boolean> {
  return withOwnLake(host, { scratch: buildScratch(host.settings.marts.home) }, async (lake) => {
    if ((await lake.read(martsPointerPath)) !== undefined) return true;
    return (await lake.foldersIn('marts')).length > 0;
  });
}

/**
 * Removes the marts from the lake, so that readers find none, but no foreign files beside them. Throws BuildRunning, ForeignLake, MartsUnknown,
 * and, once the rest is gone, LakeKeeps.
 */
export async function dropLakeMarts(host: Host): Promise<void> {
  const { database, marts } = host.settings;
  await withBuildLock({ databaseUrl: database.directUrl, target: 'lake' }, async ({ assertHeld }) => {
    await withOwnLake(host, { scratch: buildScratch(marts.home), assertHeld }, async (lake) => {
      if (!(await isOurLake(host.warehouse.pool, lake))) throw new MartsUnknown(lake.location);
      const ids = await lake.foldersIn('marts');
      const steps = [
        // What a build that stood still was going to show, then the pointer, so that readers are no longer sent to them.
        () => lake.removeLeftovers('marts'),
        () => lake.removeFile(martsPointerPath),
        ...ids.map((id) => () => lake.removeFolder(`marts/${id}`)),
        () => lake.removeLeftovers('marts'),
      ];
      await removeEach(steps.map((step) => () => assertHeld().then(step)));
      if (!(await lake.hasFilesIn('marts'))) await lake.removeFolder('marts');
    });
    await assertHeld();
    await forgetMarts(host.warehouse, 'lake');
  });
}

/**
 * Removes Spark's tables from the catalog and the lake. Returns whether readers saw any. Throws BuildRunning, ForeignLake, TablesUnknown,
 * and, once the rest is gone, LakeKeeps.
 */
export async function dropSparkMarts(host: Host): Promise<boolean> {
  const { database, marts } = host.settings;
  const scratch = join(marts.home, 'dbt', 'spark', 'scratch');
  const namespaces = [sparkNamespaces.marts, sparkNamespaces.build];
  return withBuildLock(
    { databaseUrl: database.directUrl, target: 'spark' },
    async ({ inSession, assertHeld, transaction: buildLock }) => {
      const isCleared = await withOwnLake(host, { scratch, assertHeld }, async (lake) => {
        if (!(await isOurLake(host.warehouse.pool, lake))) {
          // The tables in the catalog belong to another location.
          for (const namespace of namespaces)
            if (await lake.hasFilesIn(`iceberg/${namespace}`))
              throw new TablesUnknown(lake.location, namespace);
          return false;
        }
        await inSession((client) =>
          removeEach(
            namespaces.map((namespace) => () => clearSparkNamespace(client, lake, { namespace, buildLock })),
          ),
        );
        return true;
      });
      if (!isCleared) return false;
      await assertHeld();
      return forgetMarts(host.warehouse, 'spark');
    },
  );
}

/** Removes leftovers of killed processes on this host. Throws BuildRunning, ExportRunning. */
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
  await clearTargetBuilds(host, 'lake');
  await clearTemplates(join(home, 'seeds'));
  await rm(temporaryFolder(home), { recursive: true, force: true });
}

/** Removes unfinished marts of killed builds, and marts of removed snapshots. */
export async function removeUnfinishedMarts(host: Host): Promise<void> {
  const { database, marts } = host.settings;
  const scratch = buildScratch(marts.home);
  await withBuildLock({ databaseUrl: database.directUrl, target: 'lake' }, async ({ assertHeld }) => {
    await withOwnLake(host, { scratch, assertHeld }, async (lake) => {
      try {
        const isOurs = await isOurLake(host.warehouse.pool, lake);
        await assertHeld();
        if (isOurs) await lake.removeLeftovers('marts');
      } finally {
        await removeScratch(scratch, assertHeld);
      }
    });
  });
}

async function withOwnLake<Result>(
  { settings, warehouse }: Host,
  opened: Omit<LakeToOpen, 'location'>,
  work: (lake: Lake) => Promise<Result>,
): Promise<Result> {
  const { location } = settings.lake;
  const lake = await openOwnLake({ location, ...opened }, await lakeOwner(warehouse));
  try {
    return await work(lake);
  } finally {
    await lake.close();
  }
}
