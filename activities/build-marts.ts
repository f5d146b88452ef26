import { Context, type Info } from '@temporalio/activity';
import { isDatabaseAway } from '../warehouse/session/is-database-away.ts';
import { BuildRunning } from '../warehouse/marts/build-lock.ts';
import { LockLost } from '../warehouse/transactions/hold-lock.ts';
import { buildTarget, describeBuildError, type BuildRun } from '../marts/build-target.ts';
import { buildOnce } from '../marts/build-once.ts';
import type { MartsBuilt } from '../marts/build-settings.ts';
import { isNothingToBuild } from '../marts/errors.ts';
import { cancelRunsOfAll } from '../warehouse/runs/finish-run-of-all.ts';
import type { MartsTarget } from '../warehouse/tables/marts.ts';
import type { Dependencies } from './dependencies.ts';
import { heartbeating } from './heartbeating.ts';
import { runOfAll } from './run-of-all.ts';

export interface BuildTargetInput {
  runId: string;
  target: MartsTarget;
  reason: string;
  /** Whether Postgres gets a copy of the marts on the lake. */
  copies?: boolean;
}

/**
 * `built`, or why nothing could be built. With `copies`: how many marts were `copied` to Postgres, or why they were not; or why the build is put off,
 * so that Postgres builds its own meanwhile.
 */
export type MartsOutcome = BuiltOutcome | { skipped: string } | { putOff: string };

interface BuiltOutcome {
  built: Pick<MartsBuilt, 'as_of_date' | 'tests'> & { marts: number };
  copied?: number;
  notCopied?: string;
}

/** The progress of a build, for the Web UI and for callers that wait. */
export interface MartsProgress {
  readonly step: string;
  readonly node?: string;
}

/** Builds the marts of one target. dbt runs in a process of its own, which ends with this attempt, whatever its result. */
export async function buildMarts(
  { warehouse, building, stopping }: Pick<Dependencies, 'warehouse' | 'building' | 'stopping'>,
  { runId, target, reason, copies = false }: BuildTargetInput,
): Promise<MartsOutcome> {
  // Each target is a run of its own.
  const runForTarget = <Target extends MartsTarget>(of: Target): BuildRun<Target> => ({
    ...runOfAll({ runId: `${runId}-${of}`, kind: 'marts', target: of, reason }),
    target: of,
  });
  const run = runForTarget(target);
  let progress: MartsProgress = { step: 'waiting for its turn' };
  const follower = {
    onStep(step: string) {
      progress = { step };
    },
    onNode({ index, total, node }: { index: number; total: number; node: string }) {
      progress = { step: `${index} of ${total}`, node };
    },
  };
  return heartbeating(
    async (cancelling) => {
      // Aborts at once, without the worker's grace: a build takes minutes, and the next worker starts it again.
      const signal = AbortSignal.any([cancelling, stopping]);
      try {
        const at = { warehouse, places: building };
        if (!copies) return builtOutcome(await buildTarget(at, run, { ...follower, signal }));
        const runs = { lake: runForTarget('lake'), postgres: runForTarget('postgres') };
        const { built, copy } = await buildOnce(at, runs, { ...follower, signal });
        return {
          ...builtOutcome(built),
          ...('marts' in copy ? { copied: copy.marts } : { notCopied: copy.failure }),
        };
      } catch (error) {
        if (cancelling.aborted)
          await cancelRunsOfAll(warehouse, [run.runId, ...(copies ? [runForTarget('postgres').runId] : [])]);
        else if (stopping.aborted) throw new BuildPutOff();
        if (isNothingToBuild(error)) return { skipped: error.message };
        if (copies && !signal.aborted && isPatienceOver(Context.current().info, error))
          return { putOff: describeBuildError(error) };
        throw error;
      }
    },
    () => progress,
  );
}

/** Whether Postgres should not wait any longer for the lake, because storage or a disk has failed each attempt for minutes. */
export function isPatienceOver(
  { attempt, scheduledTimestampMs }: Pick<Info, 'attempt' | 'scheduledTimestampMs'>,
  error: unknown,
): boolean {
  const isBusy = error instanceof BuildRunning || error instanceof LockLost;
  if (attempt === 1 || isBusy || isDatabaseAway(error)) return false;
  return Date.now() - scheduledTimestampMs > mostPatienceMs;
}

const mostPatienceMs = 10 * 60_000;

/** The worker was asked to stop. */
class BuildPutOff extends Error {
  override readonly name = 'BuildPutOff';
  readonly handling = 'retry';

  constructor() {
    super('The worker stopped; the next worker builds the marts. Readers see the last good ones.');
  }
}

function builtOutcome({ as_of_date, tests, marts }: MartsBuilt): BuiltOutcome {
  return { built: { as_of_date, tests, marts: marts.length } };
}
