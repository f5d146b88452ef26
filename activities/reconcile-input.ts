import { resourceNamed } from '../resources/index.ts';
import type { RunScope } from '../warehouse/record-scope.ts';

/** The input of each step of a reconcile: one resource of the run. */
export interface ReconcileInput {
  runId: string;
  connection: string;
  resource: string;
}

export function resourceOfRun({ connection, resource, runId }: ReconcileInput): RunScope {
  return { connectionId: connection, resource: resourceNamed(resource), runId };
}
