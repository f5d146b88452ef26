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

/** A run without a workflow. */
export interface OpenRun {
  readonly runId: string;
  /** Adds to the counts of a stream. */
  count(stream: string, counts: CountsToAdd): Promise<void>;
  /** Notes counts that a commit of the work has added itself: they must be there when the run ends. */
  noteCounted(stream: string, counts: CountsToAdd): void;
  /** Notes that a stream is not done, although the run continues. */
  noteFailure(stream: string, failure: Error): void;
}

/**
 * Does work as a run of the ledger: begins it, counts, and closes it with the results of its streams. An error of the work is rethrown, and fails
 * all streams: our own errors with their message, others only by type. CommitsLost does the same; it is thrown if part of the work has been
 * lost meanwhile. The process heartbeats, because nobody else would notice a kill; runs of killed processes are closed first. Throws
 * UnknownConnection.
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
    counted.set(stream, addCounts(counted.get(stream) ?? {}, counts));
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
    await end((stream) => streamOutcome(stream, failures.get(stream)), { counted });
    return result;
  } catch (error) {
    await end((stream) => failed(stream, error));
    throw error;
  }
}

function addCounts(a: CountsToAdd, b: CountsToAdd): CountsToAdd {
  return Object.fromEntries(countNames.map((name) => [name, (a[name] ?? 0) + (b[name] ?? 0)]));
}

function streamOutcome(stream: string, failure: Error | undefined): StreamOutcome {
  return failure === undefined ? { stream, state: 'done' } : failed(stream, failure);
}

function failed(stream: string, error: unknown): StreamOutcome {
  const failureType = error instanceof Error ? error.name : 'Unexpected';
  const failure = isOurs(error) ? error.message : 'unexpected';
  return { stream, state: 'failed', failureType, failure };
}
