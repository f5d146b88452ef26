import { beginRun } from '../warehouse/runs/begin-run.ts';
import { finishRun as finishRunInWarehouse } from '../warehouse/runs/finish-run.ts';
import type { FinishedRun, StreamOutcome } from '../warehouse/runs/judge-run.ts';
import type { RunKind } from '../warehouse/tables/runs.ts';
import type { Dependencies } from './dependencies.ts';
import { updateSchedules } from './update-schedules.ts';
import { judgeSync } from './judge-sync.ts';
import { runOfActivity } from './run-of-activity.ts';
import { startWanted } from './start-wanted.ts';

export type { StreamOutcome } from '../warehouse/runs/judge-run.ts';

export interface FinishRunInput {
  runId: string;
  connection: string;
  reason: string;
  /** Absent: a sync. */
  kind?: RunKind;
  outcomes: StreamOutcome[];
  cancelled: boolean;
  /** The execution that a reset workflow comes from, or the run that it continued: a tick's or its predecessor's. Absent in histories before 0.6. */
  firstExecutionRunId?: string;
}

/** Closes the run's row with its result. A run that was reset to its end has no row yet, so it is begun first. */
export async function finishRun(dependencies: Dependencies, input: FinishRunInput): Promise<FinishedRun> {
  const { warehouse } = dependencies;
  await beginRun(warehouse, runOfActivity(input));
  const finished = await finishRunInWarehouse(warehouse, input);
  if ((input.kind ?? 'sync') === 'sync') {
    await judgeSync(dependencies, { ...input, ...finished });
    // Nobody else does this for a sync that no schedule started.
    await startWanted(dependencies, { ...input, reason: 'sync' });
  }
  // A run of any kind that met another company has paused the connection.
  else if (input.outcomes.some(({ failureType }) => failureType === 'IdentityChanged'))
    await updateSchedules(dependencies, input.connection);
  return finished;
}
