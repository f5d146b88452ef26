import { randomUUID } from 'node:crypto';
import type { Warehouse } from '../open-warehouse.ts';
import type { RunKind } from '../tables/runs.ts';
import { beginRun } from './begin-run.ts';
import { finishRun, type StreamOutcome } from './finish-run.ts';
import { interruptSilentRuns } from './interrupt-silent-runs.ts';
import { keepBeating } from './keep-beating.ts';

export interface CommandRun {
  readonly runId: string;
  /** Closes the run with what became of its streams. */
  end(outcomes: readonly StreamOutcome[]): Promise<void>;
  /** Closes the run, of which the streams failed by what was thrown: the sentence of an error of ours, else only its type. */
  fail(streams: readonly string[], error: unknown): Promise<void>;
  /** For a run that nobody closes: it is marked as interrupted before long. */
  abandon(): Promise<void>;
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
  const beating = keepBeating(warehouse, runId);
  const end = async (outcomes: readonly StreamOutcome[]): Promise<void> => {
    await beating.stop();
    await finishRun(warehouse, { runId, outcomes, cancelled: false });
  };
  const fail: CommandRun['fail'] = async (streams, error) => {
    const failureType = error instanceof Error ? error.name : 'Unexpected';
    const failure = error instanceof Error && 'handling' in error ? error.message : 'unexpected';
    await end(streams.map((stream) => ({ stream, state: 'failed', failureType, failure })));
  };
  return { runId, end, fail, abandon: () => beating.stop() };
}
