import { beginAgainIfStoodStill } from '../warehouse/reconcile/begin-again.ts';
import { findAbsent as findInWarehouse } from '../warehouse/reconcile/find-absent.ts';
import type { Dependencies } from './dependencies.ts';
import { heartbeating } from './heartbeating.ts';
import { resourceOfRun, type ReconcileInput } from './reconcile-input.ts';

export interface AbsentFound {
  absent: number;
  /**
   * Records that only a fetch decides about: the listing showed them under an older version than the one held, or they are so young
   * that a list may lag behind them. Absent in histories of releases before 0.6.
   */
  toFetch?: number;
  /** How absence is confirmed: by whatever costs fewer requests. */
  confirmBy: 'fetch' | 'listing';
}

/** Compares a complete listing with what the warehouse holds. */
export async function findAbsent(dependencies: Dependencies, input: ReconcileInput): Promise<AbsentFound> {
  return heartbeating(async () => {
    const of = resourceOfRun(input);
    const { warehouse, policies } = dependencies;
    const { lookbackMilliseconds } = policies;
    // Then there is nothing to compare: `settleResource` finds the resource unlisted, and it is listed again.
    if ((await beginAgainIfStoodStill(warehouse, { ...of, lookbackMilliseconds })) === 'begun again')
      return { absent: 0, toFetch: 0, confirmBy: 'listing' };
    const found = await findInWarehouse(warehouse, { ...of, lookbackMilliseconds });
    const { absent, young, ahead, pages, nameless } = found;
    const { fetchable } = of.resource;
    // Beside records without an id another listing proves nothing.
    const confirmBy = fetchable && (absent <= pages || nameless) ? 'fetch' : 'listing';
    return { absent, toFetch: fetchable ? ahead + young : 0, confirmBy };
  });
}
