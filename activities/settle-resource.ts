import { beginAgainIfStoodStill } from '../warehouse/reconcile/begin-again.ts';
import { deleteAbsent, doubtConfirmed } from '../warehouse/reconcile/delete-absent.ts';
import { finishResource } from '../warehouse/reconcile/finish-resource.ts';
import { isListed } from '../warehouse/reconcile/is-listed.ts';
import { removeOrphans } from '../warehouse/reconcile/remove-orphans.ts';
import type { Dependencies } from './dependencies.ts';
import { heartbeating } from './heartbeating.ts';
import { resourceOfRun, type ReconcileInput } from './reconcile-input.ts';

export interface SettleResourceInput extends ReconcileInput {
  /** How often the history says that the resource was listed, which after a reset may have been in another run. */
  listings?: number;
}

export interface ReconciledResource {
  deleted: number;
  waiting: number;
  held: number;
  equal: boolean;
  /** Nothing was done, since this run has not listed the resource, or what it has listed is too old. */
  unlisted?: true;
}

/** Deletes what is absent, as far as that may be done without asking, and proves the result. */
export async function settleResource(
  { warehouse, policies }: Dependencies,
  { listings = 1, ...input }: SettleResourceInput,
): Promise<ReconciledResource> {
  return heartbeating(async () => {
    const of = resourceOfRun(input);
    const { deleteLimit: limit, lookbackMilliseconds } = policies;
    const nothing = { deleted: 0, waiting: 0, held: 0 };
    if (!(await isListed(warehouse, { ...of, listings })))
      return { ...nothing, equal: false, unlisted: true };
    const listed = await beginAgainIfStoodStill(warehouse, { ...of, lookbackMilliseconds });
    if (listed === 'begun again') return { ...nothing, equal: false, unlisted: true };
    const isProof = listed === 'of one time';
    if (!isProof) await doubtConfirmed(warehouse, of);
    const { deleted, waiting, held } = isProof ? await deleteAbsent(warehouse, { ...of, limit }) : nothing;
    if (isProof) await removeOrphans(warehouse, of);
    const { equal } = await finishResource(warehouse, { ...of, waiting, held, lookbackMilliseconds });
    return { deleted, waiting, held, equal };
  });
}
