import { randomUUID } from 'node:crypto';
import { isOurs } from '../errors/is-ours.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { addToRun, countNames, type CountsToAdd } from '../warehouse/runs/add-to-run.ts';
import { beginRun } from '../warehouse/runs/begin-run.ts';
import { finishRun } from '../warehouse/runs/finish-run.ts';
import type { StreamOutcome } from '../warehouse/runs/judge-run.ts';
import { interruptSilentRuns } from '../warehouse/runs/interrupt-silent-runs.ts';
import { keepBeating } from '../warehouse/runs/keep-beating.ts';
import type { RunKind } from '../warehouse/tables/runs.ts';

/** A run that no workflow stands behind. */
export interface OpenRun {
  readonly runId: string;
  /** Adds to the counts of a stream. */
  count(stream: string, counts: CountsToAdd): Promise<void>;
  /** What a commit of the work has added to them itself: when the run ends it must be there. */
  noteCounted(stream: string, counts: CountsToAdd): void;
  /** A stream is not done, although the run goes on. */
  noteFailure(stream: string, failure: Error): void;
}

/**
 * Does work as a run of the ledger: begins it, counts, and closes it with what became of its streams. What the work throws is
 * thrown again, and fails all of them: by the sentence of an error of ours, else only by its type. So does CommitsLost, which is thrown
 * where some of what was done is lost by then. The process beats meanwhile,
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
  const counted = new Map<string, CountsToAdd>();
  const noteCounted = (stream: string, counts: CountsToAdd): void => {
    counted.set(stream, sumOf(counted.get(stream) ?? {}, counts));
  };
  const end = async (
    outcomeOf: (stream: string) => StreamOutcome,
    made: { counted?: ReadonlyMap<string, CountsToAdd> } = {},
  ): Promise<void> => {
    await beating.stop();
    await finishRun(warehouse, { runId, outcomes: streams.map(outcomeOf), cancelled: false, ...made });
  };
  try {
    const result = await work({
      runId,
      async count(stream, counts) {
        await addToRun(warehouse.pool, { runId, connectionId, stream, counts });
        noteCounted(stream, counts);
      },
      noteCounted,
      noteFailure(stream, failure) {
        failures.set(stream, failure);
      },
    });
    await end((stream) => outcomeOf(stream, failures.get(stream)), { counted });
    return result;
  } catch (error) {
    await end((stream) => failed(stream, error));
    throw error;
  }
}

function sumOf(a: CountsToAdd, b: CountsToAdd): CountsToAdd {
  return Object.fromEntries(countNames.map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)]));
}

function outcomeOf(stream: string, failure: Error | undefined): StreamOutcome {
  return failure === undefined ? { stream, state: 'done' } : failed(stream, failure);
}

function failed(stream: string, error: unknown): StreamOutcome {
  const failureType = error instanceof Error ? error.name : 'Unexpected';
  const failure = isOurs(error) ? error.message : 'unexpected';
  return { stream, state: 'failed', failureType, failure };
}
