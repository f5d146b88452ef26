import { randomUUID } from 'node:crypto';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { addToRun, type CountsToAdd } from '../warehouse/runs/add-to-run.ts';
import { beginRun } from '../warehouse/runs/begin-run.ts';
import { finishRun, type StreamOutcome } from '../warehouse/runs/finish-run.ts';
import { interruptSilentRuns } from '../warehouse/runs/interrupt-silent-runs.ts';
import { keepBeating } from '../warehouse/runs/keep-beating.ts';
import type { RunKind } from '../warehouse/tables/runs.ts';

/** A run that no workflow stands behind. */
export interface OpenRun {
  readonly runId: string;
  /** Adds to the counts of a stream. */
  count(stream: string, counts: CountsToAdd): Promise<void>;
  /** A stream is not done, although the run goes on. */
  noteFailure(stream: string, failure: Error): void;
}

/**
 * Does work as a run of the ledger: begins it, counts, and closes it with what became of its streams. What the work throws is
 * thrown again, and fails all of them: by the sentence of an error of ours, else only by its type. The process beats meanwhile,
 * for nobody else notices when it is killed; runs of those that were are closed first. Throws UnknownConnection.
 */
export async function withRun<Result>(
  warehouse: Warehouse,
  about: {
    readonly runId?: string;
    readonly connectionId: string;
    readonly kind: RunKind;
    readonly reason: string;
    readonly streams: readonly string[];
  },
  work: (run: OpenRun) => Promise<Result>,
): Promise<Result> {
  const { runId = randomUUID(), connectionId, streams } = about;
  await interruptSilentRuns(warehouse);
  await beginRun(warehouse, { ...about, runId, workflowId: '', temporalRunId: runId });
  const beating = keepBeating(warehouse, runId);
  const failures = new Map<string, Error>();
  const end = async (outcomeOf: (stream: string) => StreamOutcome): Promise<void> => {
    await beating.stop();
    await finishRun(warehouse, { runId, outcomes: streams.map(outcomeOf), cancelled: false });
  };
  try {
    const result = await work({
      runId,
      count: (stream, counts) => addToRun(warehouse.pool, { runId, connectionId, stream, counts }),
      noteFailure(stream, failure) {
        failures.set(stream, failure);
      },
    });
    await end((stream) => outcomeOf(stream, failures.get(stream)));
    return result;
  } catch (error) {
    await end((stream) => failed(stream, error));
    throw error;
  }
}

function outcomeOf(stream: string, failure: Error | undefined): StreamOutcome {
  return failure === undefined ? { stream, state: 'done' } : failed(stream, failure);
}

function failed(stream: string, error: unknown): StreamOutcome {
  const failureType = error instanceof Error ? error.name : 'Unexpected';
  const failure = error instanceof Error && 'handling' in error ? error.message : 'unexpected';
  return { stream, state: 'failed', failureType, failure };
}
