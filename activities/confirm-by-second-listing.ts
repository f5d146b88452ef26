import { confirmBySecondListing as confirmInWarehouse } from '../warehouse/reconcile/confirm-absent.ts';
import { takeListing } from '../warehouse/reconcile/listing-in-hand.ts';
import type { Dependencies } from './dependencies.ts';
import { heartbeating } from './heartbeating.ts';
import { createListing, type ReconcileInput } from './reconcile-input.ts';

export interface SecondListingInput extends ReconcileInput {
  /** Earlier fetches have proved nothing; only this listing can. Absent in histories of releases before 0.6. */
  unfetchable?: boolean;
}

/** Confirms absences by a second complete listing. */
export async function confirmBySecondListing(
  { warehouse, policies: { lookbackMilliseconds } }: Dependencies,
  { unfetchable = false, ...input }: SecondListingInput,
): Promise<void> {
  await heartbeating(async () => {
    const listing = createListing(input);
    const noFetch = unfetchable || !listing.resource.fetchable;
    if (await takeListing(warehouse, listing))
      await confirmInWarehouse(warehouse, { ...listing, lookbackMilliseconds, unfetchable: noFetch });
  });
}
