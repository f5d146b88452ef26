import { beginAgainIfStoodStill } from '../warehouse/reconcile/begin-again.ts';
import { findAbsent as findInWarehouse } from '../warehouse/reconcile/find-absent.ts';
import { takeListing } from '../warehouse/reconcile/listing-in-hand.ts';
import type { Dependencies } from './dependencies.ts';
import { heartbeating } from './heartbeating.ts';
import { createListing, type ReconcileInput } from './reconcile-input.ts';

export interface AbsentFound {
  absent: number;
  /**
   * The number of records that only a fetch can decide: the listing showed an older version than the one held, or a record is so young that
   * a list may lag behind it. Absent in histories of releases before 0.6.
   */
  toFetch?: number;
  /** How absence is confirmed: with whichever costs fewer requests. */
  confirmBy: 'fetch' | 'listing';
}

/** Compares a complete listing with the records in the warehouse. */
export async function findAbsent(dependencies: Dependencies, input: ReconcileInput): Promise<AbsentFound> {
  return heartbeating(async () => {
    const { warehouse, policies } = dependencies;
    const listing = { ...createListing(input), lookbackMilliseconds: policies.lookbackMilliseconds };
    const isListed =
      (await takeListing(warehouse, listing)) &&
      (await beginAgainIfStoodStill(warehouse, listing)) !== 'begun again';
    // Nothing to compare: `settleResource` finds the resource unlisted, and it is listed again.
    if (!isListed) return { absent: 0, toFetch: 0, confirmBy: 'listing' };
    const { absent, young, ahead, pages, nameless } = await findInWarehouse(warehouse, listing);
    const { fetchable } = listing.resource;
    // If the listing has records without an ID, another listing proves nothing.
    const confirmBy = fetchable && (absent <= pages || nameless) ? 'fetch' : 'listing';
    return { absent, toFetch: fetchable ? ahead + young : 0, confirmBy };
  });
}
