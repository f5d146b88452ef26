import { resourcesNamed } from '../resources/index.ts';
import { streamsOf } from '../resources/streams-of.ts';
import { readAccess } from '../warehouse/connections/read-access.ts';
import { buildQuestion, type DeletionQuestion } from '../warehouse/reconcile/deletion-question.ts';
import { readWaitingDeletions } from '../warehouse/reconcile/read-waiting-deletions.ts';
import { beginRun } from '../warehouse/runs/begin-run.ts';
import type { Dependencies } from './dependencies.ts';
import { runOfActivity } from './run-of-activity.ts';

export type { DeletionQuestion } from '../warehouse/reconcile/deletion-question.ts';

export interface PlanReconcileInput {
  runId: string;
  connection: string;
  reason: string;
  /** Empty: all. */
  resources: readonly string[];
}

export interface ReconcilePlan {
  resources: { resource: string; streams: string[] }[];
  searchable: boolean;
  /** The deletions of all resources that wait for approval as the run begins. Absent from workers of 0.5.0. */
  question?: DeletionQuestion;
}

/** Opens the run's row and decides which streams make up each resource. */
export async function planReconcile(
  dependencies: Dependencies,
  input: PlanReconcileInput,
): Promise<ReconcilePlan> {
  const { warehouse, apiAddress, secretKey, searchable } = dependencies;
  const chosen = resourcesNamed(input.resources);
  await beginRun(warehouse, runOfActivity({ ...input, kind: 'reconcile' }));
  await readAccess(warehouse, secretKey, { connectionId: input.connection, apiAddress });
  return {
    resources: chosen.map((resource) => ({ resource: resource.name, streams: streamsOf(resource) })),
    searchable,
    question: buildQuestion(await readWaitingDeletions(warehouse, { connectionId: input.connection })),
  };
}
