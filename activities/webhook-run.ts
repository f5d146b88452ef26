import type { Resource } from '../resources/resource.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { addToRun, type CountsToAdd } from '../warehouse/runs/add-to-run.ts';
import { beginRun } from '../warehouse/runs/begin-run.ts';
import { finishRun } from '../warehouse/runs/finish-run.ts';
import { runOf } from './run-of.ts';

/** The run that applies webhooks; one that finds nothing to ask for leaves no row. */
export interface WebhookRun {
  begin(): Promise<void>;
  add(resource: Resource, counts: CountsToAdd): Promise<void>;
  /** With what ended it early, if anything did. */
  finish(failure?: Error): Promise<void>;
  /** Records asked for so far. */
  records(): number;
}

export function createWebhookRun(
  warehouse: Warehouse,
  { runId, connection }: { runId: string; connection: string },
): WebhookRun {
  const streams = new Set<string>();
  let begun: Promise<void> | undefined;
  let records = 0;
  const begin = (): Promise<void> =>
    (begun ??= beginRun(warehouse, runOf({ runId, connection, kind: 'webhook', reason: 'webhook' })));
  return {
    begin,
    async add(resource, counts) {
      const stream = resource.streams[0]?.name ?? '';
      streams.add(stream);
      records += counts.requests ?? 0;
      await addToRun(warehouse.pool, { runId, connectionId: connection, stream, counts });
    },
    async finish(failure) {
      if (failure !== undefined) await begin();
      if (begun === undefined) return;
      const outcomes = [...streams].map((stream) =>
        failure === undefined
          ? ({ stream, state: 'done' } as const)
          : ({ stream, state: 'failed', failureType: failure.name, failure: failure.message } as const),
      );
      await finishRun(warehouse, { runId, outcomes, cancelled: false });
    },
    records: () => records,
  };
}
