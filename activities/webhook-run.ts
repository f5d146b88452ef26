import type { Resource } from '../resources/resource.ts';
import { firstStream } from '../resources/streams-of.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { addToRun, type CountsToAdd } from '../warehouse/runs/add-to-run.ts';
import { beginRun } from '../warehouse/runs/begin-run.ts';
import { readRuns, type RunRead } from '../warehouse/runs/read-run.ts';
import { finishRun } from '../warehouse/runs/finish-run.ts';
import type { StreamOutcome } from '../warehouse/runs/judge-run.ts';
import { runOfActivity } from './run-of-activity.ts';

/** The run that applies webhooks. A run with nothing to fetch leaves no row. */
export interface WebhookRun {
  begin(): Promise<void>;
  /** Adds counts to the run's row, and records that were fetched, whatever the answer. */
  add(resource: Resource, counts: CountsToAdd, fetched?: number): Promise<void>;
  /** Notes that a record of the resource could not be fetched; its webhooks wait. */
  noteFailure(resource: Resource, failure: Error): void;
  /** Ends the run, with the failure that ended it early, if any. */
  finish(failure?: Error): Promise<void>;
  /** The number of records fetched so far. */
  records(): number;
}

export function createWebhookRun(
  warehouse: Warehouse,
  { runId, connection }: { runId: string; connection: string },
): WebhookRun {
  const streams = new Map<string, Error | undefined>();
  let begun: Promise<void> | undefined;
  let records = 0;
  const begin = (): Promise<void> =>
    (begun ??= beginRun(warehouse, runOfActivity({ runId, connection, kind: 'webhook', reason: 'webhook' })));
  return {
    begin,
    async add(resource, counts, fetched = 0) {
      const stream = firstStream(resource);
      streams.set(stream, streams.get(stream));
      records += fetched;
      await addToRun(warehouse.pool, { runId, connectionId: connection, stream, counts });
    },
    noteFailure(resource, failure) {
      streams.set(firstStream(resource), failure);
    },
    async finish(ended) {
      if (ended !== undefined) await begin();
      const left = await leftByAttemptBefore(warehouse, runId);
      for (const { stream } of left?.streams ?? []) streams.set(stream, streams.get(stream));
      if (begun === undefined && left === undefined) return;
      // It may have ended before any record was fetched.
      if (streams.size === 0) streams.set('webhooks', undefined);
      const outcomes = [...streams].map(([stream, failed]) => streamOutcome(stream, ended ?? failed));
      await finishRun(warehouse, { runId, outcomes, cancelled: false });
    },
    records: () => records,
  };
}

/**
 * Returns the run that a killed attempt has opened: there may be nothing left to do but to close it. Every attempt looks for it, because a reset
 * of the activity counts a later attempt as the first.
 */
async function leftByAttemptBefore(warehouse: Warehouse, runId: string): Promise<RunRead | undefined> {
  const [run] = await readRuns(warehouse, { temporalRunId: runId, running: true, limit: 1 });
  return run;
}

function streamOutcome(stream: string, failure: Error | undefined): StreamOutcome {
  if (failure === undefined) return { stream, state: 'done' };
  return { stream, state: 'failed', failureType: failure.name, failure: failure.message };
}
