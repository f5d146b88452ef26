import { codeOf } from '../errors/code-of.ts';
import { isOurs } from '../errors/is-ours.ts';
import { nameOf } from '../errors/name-of.ts';
import { areAllElsewhere } from '../warehouse/connections/are-all-elsewhere.ts';
import { noteHost } from '../warehouse/hosts/note-host.ts';
import { isDatabaseAway } from '../warehouse/session/is-database-away.ts';
import { withBuildLock } from '../warehouse/marts/build-lock.ts';
import { LockLost } from '../warehouse/transactions/hold-lock.ts';
import { noteMarts } from '../warehouse/marts/note-marts.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { beginRunOfAll, type RunOfAll } from '../warehouse/runs/begin-run-of-all.ts';
import { finishRunOfAll } from '../warehouse/runs/finish-run-of-all.ts';
import { keepBeating } from '../warehouse/runs/keep-beating.ts';
import { lakeOwner } from '../warehouse/snapshots/lake-owner.ts';
import type { MartsTarget } from '../warehouse/tables/marts.ts';
import { buildOnLake } from './build-on-lake.ts';
import { buildOnPostgres } from './build-on-postgres.ts';
import { buildOnSpark } from './build-on-spark.ts';
import type { BuildFollower, BuildPlaces, MartsBuilt } from './build-settings.ts';
import type { FinishedMarts } from './copy-into-postgres.ts';
import { isNothingToBuild, NoOwnConnection } from './errors.ts';
import { hostOf } from './host-of.ts';
import { todayIn } from './today-in.ts';

/** Settings and folders for all targets. */
export interface MartsPlaces extends BuildPlaces {
  readonly databaseUrl: string;
  readonly lake: string;
  /** Whether Iceberg tables show the lake's marts even if there are none yet; undefined if the caller takes care of the tables. */
  readonly iceberg: boolean | undefined;
  /** The time zone that decides today's date in the marts. */
  readonly timeZone: string;
  /** The master URL of Spark. */
  readonly sparkMaster: string;
  /** Whether the marts may become empty, rather than stay unchanged: an erasure has priority over figures. */
  readonly mayBeEmpty?: boolean;
}

export type BuildRun<Target extends MartsTarget = MartsTarget> = Omit<RunOfAll, 'kind' | 'target'> & {
  readonly target: Target;
};

export interface BuildIn {
  readonly warehouse: Warehouse;
  readonly places: MartsPlaces;
}

/**
 * Builds the marts of a target as a run of the ledger. The run begins once the build lock is held, and is closed with its result. It stays
 * open if the database went away, the lock was lost or the signal was aborted, because another attempt may continue it. Throws BuildRunning, NoOwnConnection and
 * the errors of the builds. `onFinished` receives marts on the lake once readers see them, while their database still exists.
 */
export async function buildTarget(
  { warehouse, places }: BuildIn,
  run: BuildRun,
  follower: BuildFollower,
  onFinished: (built: MartsBuilt, marts: FinishedMarts) => Promise<void> = () => Promise.resolve(),
): Promise<MartsBuilt> {
  const { runId, target } = run;
  const { databaseUrl, iceberg, timeZone } = places;
  const { signal } = follower;
  return withBuildLock({ databaseUrl, target }, async (lock) => {
    await beginRunOfAll(warehouse, { ...run, kind: 'marts' });
    await noteHost(warehouse, await hostOf(places.home));
    // A build that a command runs itself has no workflow.
    const beating = run.workflowId === '' ? keepBeating(warehouse, runId) : undefined;
    const asOfDate = todayIn(timeZone, new Date());
    try {
      if (places.mayBeEmpty !== true && (await areAllElsewhere(warehouse, places.apiAddress)))
        throw new NoOwnConnection(places.apiAddress);
      const settings = { ...places, ...follower, owner: await lakeOwner(warehouse), asOfDate };
      const note = (built: MartsBuilt): Promise<void> =>
        noteMarts(
          warehouse,
          {
            runId,
            target,
            asOfDate: built.as_of_date,
            snapshotId: built.snapshot_id ?? null,
            marts: built.marts.length,
            outcome: describeBuild(built),
          },
          lock.requireLock,
        );
      if (target === 'lake')
        return await buildOnLake(lock, {
          ...settings,
          iceberg: iceberg === undefined ? undefined : { add: iceberg, databaseUrl },
          async onFinished(built, marts) {
            await note(built);
            await onFinished(built, marts);
          },
        });
      const built = await (target === 'spark' ? buildOnSpark : buildOnPostgres)(lock, settings);
      await note(built);
      return built;
    } catch (error) {
      if (signal?.aborted === true) throw error;
      // Without the lock a failure says nothing: the next build may have removed what this one was reading, or ended its sessions.
      await lock.assertHeld();
      const mayContinue = isDatabaseAway(error) || error instanceof LockLost;
      if (!mayContinue) await finishRunOfAll(warehouse, { runId, ...describeEnd(error) });
      throw error;
    } finally {
      await beating?.stop();
    }
  });
}

export function describeBuild({
  target,
  snapshot_id: snapshot,
  as_of_date: day,
  ...built
}: MartsBuilt): string {
  const places = {
    postgres: 'in Postgres',
    lake: `on snapshot ${snapshot ?? ''}`,
    spark: `with Spark on snapshot ${snapshot ?? ''}`,
  };
  return (
    `Built ${built.marts.length} marts ${places[target]} as of ${day}: ${built.models} models, ${built.tests} tests, ` +
    `${built.warnings} warnings, ${built.seconds.toFixed(1)} s.`
  );
}

function describeEnd(error: unknown): Omit<Parameters<typeof finishRunOfAll>[1], 'runId'> {
  const sentence = describeBuildError(error);
  return isNothingToBuild(error)
    ? { status: 'unsupported', failure: null, outcome: `The marts were skipped. ${sentence}` }
    : { status: 'failed', failure: sentence, outcome: null };
}

/** Says only the name and code of foreign errors: a driver's message may quote a record. */
export function describeBuildError(error: unknown): string {
  if (isOurs(error)) return error.message;
  const code = codeOf(error);
  const said = code === undefined ? '' : ` (${code})`;
  return `The marts were not replaced: unexpected ${nameOf(error)}${said}.`;
}
