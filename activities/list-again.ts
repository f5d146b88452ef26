import { takeListing } from '../warehouse/reconcile/listing-in-hand.ts';
import { listAgain as listAgainInWarehouse } from '../warehouse/reconcile/confirm-absent.ts';
import type { Dependencies } from './dependencies.ts';
import { createListing, type ReconcileInput } from './reconcile-input.ts';

/** Opens the streams of the resource for a second listing. */
export async function listAgain({ warehouse }: Dependencies, input: ReconcileInput): Promise<void> {
  const listing = createListing(input);
  // If an earlier attempt has opened them, the listing is not complete.
  if (await takeListing(warehouse, listing)) await listAgainInWarehouse(warehouse, listing);
}
