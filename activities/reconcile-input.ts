import { resourceNamed } from '../resources/index.ts';
import type { ResourceOfRun } from '../warehouse/reconcile/resource-of-run.ts';

/** The input of each step of a reconcile: one resource of the run. */
export interface ReconcileInput {
  runId: string;
  connection: string;
  resource: string;
}

export function resourceOfRun({ connection, resource, runId }: ReconcileInput): ResourceOfRun {
  return { connectionId: connection, resource: resourceNamed(resource), runId };
}
