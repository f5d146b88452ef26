import { beginAgainIfStoodStill } from '../warehouse/reconcile/begin-again.ts';
import { deleteAbsent } from '../warehouse/reconcile/delete-absent.ts';
import { finishResource, readFinished } from '../warehouse/reconcile/finish-resource.ts';
import { isListed } from '../warehouse/reconcile/is-listed.ts';
import { takeListing } from '../warehouse/reconcile/listing-in-hand.ts';
import { removeOrphans } from '../warehouse/reconcile/remove-orphans.ts';
import type { Dependencies } from './dependencies.ts';
import { heartbeating } from './heartbeating.ts';
import { noteServiceTime } from './note-service-time.ts';
import { createListing, type ReconcileInput } from './reconcile-input.ts';

export interface SettleResourceInput extends ReconcileInput {
  /** How often the resource was listed according to the history; after a reset, that may have been in another run. */
  listings?: number;
}

export interface ReconciledResource {
  deleted: number;
  waiting: number;
  held: number;
  equal: boolean;
  /** Nothing was done, because this run has not listed the resource, or its listing is too old. */
  unlisted?: true;
}

/** Deletes absent records as far as no approval is needed, and proves the result. */
export async function settleResource(
  dependencies: Dependencies,
  { listings = 1, ...input }: SettleResourceInput,
): Promise<ReconciledResource> {
  const { warehouse, policies } = dependencies;
  return heartbeating(async (signal) => {
    const listing = { ...createListing(input), lookbackMilliseconds: policies.lookbackMilliseconds };
    const nothing = { deleted: 0, waiting: 0, held: 0 };
    if (!(await isListed(warehouse, { ...listing, listings })))
      return { ...nothing, equal: false, unlisted: true };
    // An earlier attempt has finished it.
    if (!(await takeListing(warehouse, listing)))
      return { deleted: 0, ...(await readFinished(warehouse, listing)) };
    await noteServiceTime(dependencies, listing, signal);
    const listed = await beginAgainIfStoodStill(warehouse, listing);
    if (listed === 'begun again') return { ...nothing, equal: false, unlisted: true };
    const isProof = listed === 'of one time';
    const absent = isProof
      ? await deleteAbsent(warehouse, { ...listing, limit: policies.deleteLimit })
      : { ...nothing, before: 0 };
    if (isProof) await removeOrphans(warehouse, listing);
    const { deleted, ...rest } = absent;
    const { waiting, equal } = await finishResource(warehouse, { ...listing, ...rest });
    return { deleted, waiting, held: absent.held, equal };
  });
}
