import { randomUUID } from 'node:crypto';
import type { Warehouse } from '../open-warehouse.ts';
import type { RunKind } from '../tables/runs.ts';
import { beginRun } from './begin-run.ts';
import { interruptSilentRuns } from './interrupt-silent-runs.ts';
import { keepBeating, type Beating } from './keep-beating.ts';

export interface CommandRun {
  readonly runId: string;
  readonly beating: Beating;
}

/**
 * Opens a run that no workflow stands behind: the command does the work itself, and nobody notices when it is killed. Closes
 * those of commands that were. Throws UnknownConnection.
 */
export async function beginCommandRun(
  warehouse: Warehouse,
  run: { runId?: string; connectionId: string; kind: RunKind; reason: string },
): Promise<CommandRun> {
  await interruptSilentRuns(warehouse);
  const { runId = randomUUID() } = run;
  await beginRun(warehouse, { ...run, runId, workflowId: '', temporalRunId: runId });
  return { runId, beating: keepBeating(warehouse, runId) };
}
