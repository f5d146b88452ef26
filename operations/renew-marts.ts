import type { ClientBase } from 'pg';
import { LakeAltered, LakeRefused, SnapshotDamaged } from '../lake/errors.ts';
import { MartsFailed, MartsOlder, NoSnapshot } from '../marts/errors.ts';
import { withBuildLock, type RequireLock } from '../warehouse/marts/build-lock.ts';
import { areMartsShown } from '../warehouse/marts/are-marts-shown.ts';
import { dropCopies, dropHiddenMarts } from '../warehouse/marts/drop-hidden-marts.ts';
import { readMartsStatus } from '../warehouse/marts/read-marts-status.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import type { MartsTarget } from '../warehouse/tables/marts.ts';
import { buildWithoutWorkflow } from './build-without-workflow.ts';
import {
  clearTargetBuilds,
  clearLakeMarts,
  dropLakeMarts,
  dropSparkMarts,
  hasLakeMarts,
  removeUnfinishedMarts,
} from './clear-host.ts';
import { unlessKept } from './unless-kept.ts';
import { waitingFor, type Waiting } from './when-free.ts';
import type { Settings } from '../config/settings.ts';

export interface Host {
  readonly settings: Settings;
  readonly warehouse: Warehouse;
}

export interface Renewing extends Waiting {
  /** Receives problems that prevented a step; the other steps are done. */
  readonly onKept: (problem: Error) => void;
}

/**
 * Builds the marts on the lake without a record that was erased from its snapshots, or removes them. Returns whether they were built. Never waits
 * for readers of Postgres, because exports are blocked meanwhile.
 */
export async function renewLakeMarts(host: Host, renewing: Renewing): Promise<boolean> {
  const whenFree = waitingFor(renewing);
  // An obstacle in place of their folder must not prevent the rest.
  const unlessInTheWay = <Result>(work: () => Promise<Result>): Promise<Result | undefined> =>
    unlessKept(renewing.onKept, work, { also: [LakeRefused] });
  await unlessInTheWay(() =>
    whenFree('What builds on the lake have left was not removed', () => clearLakeMarts(host)),
  );
  const rebuilt = await unlessInTheWay(() =>
    whenFree('The marts on the lake were not rebuilt', async () => {
      if (await areBuilt(host, 'lake')) return buildOrDropOnLake(host, renewing);
      // The lake may have marts that Postgres does not know of, because it was restored to a moment before they were built.
      if (await hasLakeMarts(host)) await dropOnLake(host, renewing, 'Postgres knows of no build of them');
      return false;
    }),
  );
  // Marts of removed snapshots may have been the current ones until now.
  if (rebuilt === true)
    await unlessInTheWay(() =>
      whenFree('The marts of snapshots that are gone were not removed', () => removeUnfinishedMarts(host)),
    );
  return rebuilt === true;
}

/** Returns whether they were built. */
async function buildOrDropOnLake(host: Host, renewing: Renewing): Promise<boolean> {
  try {
    await build(host, 'lake', renewing);
    return true;
  } catch (error) {
    // The place where they were built instead is reported with the unsearched snapshots.
    if (error instanceof NoSnapshot && !(await hasLakeMarts(host))) return false;
    if (!failsAtEveryTry(error)) throw error;
    await dropOnLake(host, renewing, `they could not be built without it (${error.message})`);
    return false;
  }
}

async function dropOnLake(host: Host, { onStep }: Renewing, why: string): Promise<void> {
  await dropLakeMarts(host);
  onStep(
    `the marts on the lake are removed, for ${why}: once that is fixed, build them again with "daybook dbt build --target lake"`,
  );
}

/** Errors in a company's books, or altered files in the lake: if it only retried, marts and snapshots would keep the record. */
function failsAtEveryTry(error: unknown): error is Error {
  return [MartsFailed, MartsOlder, NoSnapshot, SnapshotDamaged, LakeAltered].some(
    (kind) => error instanceof kind,
  );
}

/** Removes the marts of Spark, which may not be available here; a host with Spark rebuilds them. */
export async function removeSparkMarts(host: Host, renewing: Renewing): Promise<void> {
  const whenFree = waitingFor(renewing);
  const remove = async (): Promise<void> => {
    await clearTargetBuilds(host, 'spark');
    if (await dropSparkMarts(host))
      renewing.onStep(
        'the marts on Spark are removed: build them again with "daybook dbt build --target spark"',
      );
  };
  // An obstacle in place of their folder must not prevent the rest.
  await unlessKept(renewing.onKept, () => whenFree('The marts on Spark were not removed', remove), {
    also: [LakeRefused],
  });
}

/**
 * Builds the marts in Postgres without a record that was erased from the tables, and drops hidden leftovers of builds, even if no build ever
 * succeeded. Returns whether they were built. Readers may be in the way, and builds that wait for them.
 */
export async function renewPostgresMarts(host: Host, renewing: Renewing): Promise<boolean> {
  const { onStep, timeoutMilliseconds } = renewing;
  const whenFree = waitingFor(renewing);
  let areThere = await arePostgresMartsThere(host);
  const rebuilt = await unlessKept(renewing.onKept, () =>
    whenFree('The marts in Postgres were not rebuilt', async () => {
      await clearTargetBuilds(host, 'postgres');
      // The build that was waited for may have been the first.
      areThere = await arePostgresMartsThere(host);
      if (areThere) await build(host, 'postgres', renewing);
      return areThere;
    }),
  );
  if (rebuilt === undefined && areThere)
    onStep('the marts in Postgres still hold it, for they could not be built without it');
  const ours = { databaseUrl: host.settings.database.directUrl, target: 'postgres' } as const;
  // The build has already waited for readers of the shown marts.
  const waiting = { timeoutMilliseconds: Math.min(30_000, timeoutMilliseconds) };
  const drop = async (client: ClientBase, requireLock: RequireLock): Promise<void> => {
    if (!areThere) await dropCopies(client, { ...waiting, requireLock });
    await dropHiddenMarts(client, { ...waiting, requireLock });
  };
  await unlessKept(renewing.onKept, () =>
    whenFree('What builds in Postgres have left was not dropped', () =>
      withBuildLock(ours, (lock) => lock.inSession((client) => drop(client, lock.requireLock))),
    ),
  );
  return rebuilt === true;
}

/** Readers may see marts of a build that ended before it was recorded. */
async function arePostgresMartsThere(host: Host): Promise<boolean> {
  return (await areBuilt(host, 'postgres')) || (await areMartsShown(host.warehouse));
}

async function areBuilt({ warehouse }: Host, target: MartsTarget): Promise<boolean> {
  return (await readMartsStatus(warehouse))[target].as_of_date !== null;
}

async function build(
  host: Host,
  target: MartsTarget,
  { onStep, timeoutMilliseconds }: Renewing,
): Promise<void> {
  // An obstacle to the Iceberg tables must not keep the old snapshots in the lake.
  const asked = { target, reason: 'daybook erase', connections: 1, leavesIceberg: true, mayBeEmpty: true };
  await buildWithoutWorkflow(host, asked, { onStep, timeoutMilliseconds });
}
