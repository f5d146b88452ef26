import { beginAgainIfStoodStill } from '../warehouse/reconcile/begin-again.ts';
import { findAbsent as findInWarehouse } from '../warehouse/reconcile/find-absent.ts';
import { takeListing } from '../warehouse/reconcile/listing-in-hand.ts';
import type { Dependencies } from './dependencies.ts';
import { heartbeating } from './heartbeating.ts';
import { listingOf, type ReconcileInput } from './reconcile-input.ts';

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
    const { warehouse, policies } = dependencies;
    const listing = { ...listingOf(input), lookbackMilliseconds: policies.lookbackMilliseconds };
    const isListed =
      (await takeListing(warehouse, listing)) &&
      (await beginAgainIfStoodStill(warehouse, listing)) !== 'begun again';
    // Then there is nothing to compare: `settleResource` finds the resource unlisted, and it is listed again.
    if (!isListed) return { absent: 0, toFetch: 0, confirmBy: 'listing' };
    const { absent, young, ahead, pages, nameless } = await findInWarehouse(warehouse, listing);
    const { fetchable } = listing.resource;
    // Beside records without an id another listing proves nothing.
    const confirmBy = fetchable && (absent <= pages || nameless) ? 'fetch' : 'listing';
    return { absent, toFetch: fetchable ? ahead + young : 0, confirmBy };
  });
}
