import { resourcesNamed } from '../resources/index.ts';
import { readAccess } from '../warehouse/connections/read-access.ts';
import { deleteApproved as deleteInWarehouse } from '../warehouse/reconcile/delete-absent.ts';
import type { DeletionQuestion } from '../warehouse/reconcile/deletion-question.ts';
import { beginRun } from '../warehouse/runs/begin-run.ts';
import { readRunAge } from '../warehouse/runs/read-run-age.ts';
import { createCompanyProof } from '../requests/company-proof.ts';
import type { Dependencies } from './dependencies.ts';
import { heartbeating } from './heartbeating.ts';
import { judgeFailing } from './judge-request-failure.ts';
import { retryWithDeadline } from '../requests/retry-with-deadline.ts';
import { runOfActivity } from './run-of-activity.ts';

export interface DeleteApprovedInput {
  runId: string;
  connection: string;
  resources: readonly string[];
  approved?: DeletionQuestion;
}

/**
 * Deletes the records that a person was shown and approved, once the service has named the company of the current token. An approval of
 * 0.5.0 does not list them: then nothing is deleted, and waiting records count as something else.
 */
export async function deleteApproved(
  dependencies: Dependencies,
  input: DeleteApprovedInput,
): Promise<{ deleted: number }> {
  const { runId, connection: connectionId, approved = {} } = input;
  const resources = resourcesNamed(input.resources);
  const { warehouse, api, apiAddress, secretKey } = dependencies;
  return heartbeating(async (signal) => {
    // A run that was reset to here has no row yet.
    await beginRun(warehouse, runOfActivity({ ...input, reason: 'Temporal', kind: 'reconcile' }));
    const access = await readAccess(warehouse, secretKey, { connectionId, apiAddress });
    const proof = createCompanyProof(dependencies, { connectionId, runId, access, api, signal });
    await retryWithDeadline(() => proof.require(null), signal).catch(async (error: unknown) => {
      signal.throwIfAborted();
      throw await judgeFailing(dependencies.policies, {
        what: input.resources.join(', '),
        error,
        ofOneAlone: true,
        // The approval is what the run begins with.
        failingMilliseconds: () => readRunAge(warehouse, runId),
      });
    });
    return { deleted: await deleteInWarehouse(warehouse, { connectionId, resources, runId, approved }) };
  });
}
