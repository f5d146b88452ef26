import { buildMarts as build } from '../marts/build-marts.ts';
import type { MartsBuilt } from '../marts/build-settings.ts';
import { isNothingToBuild } from '../marts/errors.ts';
import { finishRunOfAll } from '../warehouse/runs/finish-run-of-all.ts';
import type { MartsTarget } from '../warehouse/tables/marts.ts';
import type { Dependencies } from './dependencies.ts';
import { heartbeating } from './heartbeating.ts';
import { runOfAll } from './run-of-all.ts';

export interface BuildMartsInput {
  runId: string;
  target: MartsTarget;
  reason: string;
}

/** `built`, or why nothing could be built. */
export type MartsOutcome =
  { built: Pick<MartsBuilt, 'as_of_date' | 'tests'> & { marts: number } } | { skipped: string };

/** The progress of a build, for the Web UI and for callers that wait. */
export interface MartsProgress {
  readonly step: string;
  readonly node?: string;
}

/** Builds the marts of one target. dbt runs in a process of its own, which ends with this attempt, whatever its result. */
export async function buildMarts(
  { warehouse, building, stopping }: Pick<Dependencies, 'warehouse' | 'building' | 'stopping'>,
  { runId, target, reason }: BuildMartsInput,
): Promise<MartsOutcome> {
  // Each target is a run of its own.
  const run = { ...runOfAll({ runId: `${runId}-${target}`, kind: 'marts', target, reason }), target };
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
        return outcomeOf(await build({ warehouse, places: building }, run, { ...follower, signal }));
      } catch (error) {
        if (cancelling.aborted)
          await finishRunOfAll(warehouse, {
            runId: run.runId,
            status: 'cancelled',
            failure: null,
            outcome: null,
          });
        else if (stopping.aborted) throw new BuildPutOff();
        if (isNothingToBuild(error)) return { skipped: error.message };
        throw error;
      }
    },
    () => progress,
  );
}

/** The worker was asked to stop. */
class BuildPutOff extends Error {
  override readonly name = 'BuildPutOff';
  readonly handling = 'retry';

  constructor() {
    super('The worker stopped; the next worker builds the marts. Readers see the last good ones.');
  }
}

function outcomeOf({ as_of_date, tests, marts }: MartsBuilt): MartsOutcome {
  return { built: { as_of_date, tests, marts: marts.length } };
}
