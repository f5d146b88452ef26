import { resources } from '../resources/index.ts';
import type { Resource } from '../resources/resource.ts';
import { readAccess } from '../warehouse/connections/read-access.ts';
import { questionOf, type DeletionQuestion } from '../warehouse/reconcile/deletion-question.ts';
import { readWaitingDeletions } from '../warehouse/reconcile/read-waiting-deletions.ts';
import { beginRun } from '../warehouse/runs/begin-run.ts';
import type { Dependencies } from './dependencies.ts';
import { runOf } from './run-of.ts';
import { UnknownResource } from './unknown-resource.ts';

export type { DeletionQuestion } from '../warehouse/reconcile/deletion-question.ts';

export interface PlanReconcileInput {
  runId: string;
  connection: string;
  reason: string;
  /** All, when empty. */
  resources: readonly string[];
}

export interface ReconcilePlan {
  resources: { resource: string; streams: string[] }[];
  searchable: boolean;
  /** What waits for approval as the run begins, of all resources. Workers of 0.5.0 do not tell. */
  question?: DeletionQuestion;
}

/** Opens the run's row and decides which streams make up each resource. */
export async function planReconcile(
  dependencies: Dependencies,
  input: PlanReconcileInput,
): Promise<ReconcilePlan> {
  const { warehouse, apiAddress, secretKey, searchable } = dependencies;
  const chosen = resourcesNamed(input.resources);
  await beginRun(warehouse, runOf({ ...input, kind: 'reconcile' }));
  await readAccess(warehouse, secretKey, { connectionId: input.connection, apiAddress });
  return {
    resources: chosen.map(({ name, streams }) => ({
      resource: name,
      streams: streams.map((stream) => stream.name),
    })),
    searchable,
    question: questionOf(await readWaitingDeletions(warehouse, { connectionId: input.connection })),
  };
}

/** All, when none is named. Throws UnknownResource. */
export function resourcesNamed(names: readonly string[]): readonly Resource[] {
  const unknown = names.filter((name) => !resources.some((resource) => resource.name === name));
  if (unknown.length > 0)
    throw new UnknownResource(
      unknown,
      resources.map(({ name }) => name),
    );
  return names.length === 0 ? resources : resources.filter(({ name }) => names.includes(name));
}
