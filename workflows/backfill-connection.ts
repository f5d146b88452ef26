import { continueAsNew } from '@temporalio/workflow';
import type { PlannedBackfill } from '../activities/plan-backfill.ts';
import { mapConcurrently } from './map-concurrently.ts';
import { trackProgress } from './progress.ts';
import { bookkeeping, paging } from './proxies.ts';
import { createReader, type Run } from './read-streams.ts';
import { requireInput } from './require-input.ts';
import { continuationOf, currentRunId, runToEnd, type RunResult } from './run-to-end.ts';

/** One JSON object, so that "Start Workflow Like This One" in the Web UI repeats it, with other dates too. */
export interface BackfillConnectionInput {
  connection: string;
  /** A day (2024-01-31) or a time, in UTC if no zone is given. Inclusive. */
  from: string;
  /** Exclusive. */
  to: string;
  /** Absent: 30 days. */
  windowMilliseconds?: number;
  /** Absent: all six. */
  resources?: string[];
  /** Who or what asked; shown in the run's row. */
  reason?: string;
  /** Set by continue-as-new only. */
  continues?: { runId: string; planned: PlannedBackfill };
}

/** Streams read concurrently. A sync of the connection continues meanwhile, and should keep its share of the workers. */
const concurrency = 3;

/**
 * Reads again the records that were updated within a period, window by window: records are added and repaired, none is deleted, and no watermark
 * moves. The remaining windows are kept in Postgres alone, so a backfill that was ended continues when it is started again with the same
 * times.
 */
export async function backfillConnection(input: BackfillConnectionInput): Promise<RunResult> {
  requireInput(input);
  const { connection } = input;
  const runId = currentRunId(input);
  const continuation = continuationOf(input);
  const planned = continuation?.planned ?? (await plan(input, runId));
  const { streams, searchable } = planned;
  const run: Run = { runId, connection, reason: givenReason(input), kind: 'backfill' };
  const progress = trackProgress({ connection, kind: 'backfill', searchable, streams });
  const reader = createReader(run, progress, async (stream, summary, after) => {
    const read = await paging.readWindows.executeWithOptions({ summary }, [
      { ...run, stream, plan: planned.plan, ...after },
    ]);
    progress.note(stream, read.windowsLeft > 0 ? `reading, ${read.windowsLeft} windows left` : undefined);
    return read;
  });
  const work = async () => {
    const results = await mapConcurrently(concurrency, streams, (stream) => reader.read(stream));
    const outcomes = results.filter((outcome) => outcome !== 'unfinished');
    return { outcomes, unfinished: outcomes.length < results.length };
  };
  const result = await runToEnd(run, progress, work, { goesOnWith: continuation?.runId });
  return result === 'unfinished'
    ? continueAsNew<typeof backfillConnection>({ ...input, continues: { runId, planned } })
    : result;
}

function plan(input: BackfillConnectionInput, runId: string): Promise<PlannedBackfill> {
  const { connection, from, to, windowMilliseconds, resources = [] } = input;
  const window = windowMilliseconds === undefined ? {} : { windowMilliseconds };
  return bookkeeping.planBackfill({
    runId,
    connection,
    reason: givenReason(input),
    from,
    to,
    resources,
    ...window,
  });
}

function givenReason({ reason = 'Temporal' }: BackfillConnectionInput): string {
  return reason;
}
