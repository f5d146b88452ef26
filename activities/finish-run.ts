import { beginRun } from '../warehouse/runs/begin-run.ts';
import {
  finishRun as finishRunInWarehouse,
  type FinishedRun,
  type StreamOutcome,
} from '../warehouse/runs/finish-run.ts';
import type { Dependencies } from './dependencies.ts';
import { runOf } from './run-of.ts';

export type { StreamOutcome } from '../warehouse/runs/finish-run.ts';

export interface FinishRunInput {
  runId: string;
  connection: string;
  reason: string;
  outcomes: StreamOutcome[];
  cancelled: boolean;
}

/** Closes the run's row with what is true of it. A run that was reset to its end has no row yet, so it is begun first. */
export async function finishRun({ warehouse }: Dependencies, input: FinishRunInput): Promise<FinishedRun> {
  await beginRun(warehouse, runOf(input));
  return finishRunInWarehouse(warehouse, input);
}
