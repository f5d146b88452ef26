import { resourcesNamed } from '../resources/index.ts';
import { deleteApproved as deleteInWarehouse } from '../warehouse/reconcile/delete-absent.ts';
import type { DeletionQuestion } from '../warehouse/reconcile/deletion-question.ts';
import type { Dependencies } from './dependencies.ts';
import { heartbeating } from './heartbeating.ts';

export interface DeleteApprovedInput {
  runId: string;
  connection: string;
  resources: readonly string[];
  approved?: DeletionQuestion;
}

/**
 * Deletes what a person was shown and approved. An approval of 0.5.0 does not say what that was: then nothing is deleted, and
 * anything that waits is something else.
 */
export async function deleteApproved(
  { warehouse }: Dependencies,
  input: DeleteApprovedInput,
): Promise<{ deleted: number }> {
  const { runId, connection: connectionId, approved = {} } = input;
  const resources = resourcesNamed(input.resources);
  return heartbeating(async () => ({
    deleted: await deleteInWarehouse(warehouse, { connectionId, resources, runId, approved }),
  }));
}
