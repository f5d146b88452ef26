import { resources } from '../resources/index.ts';
import { CommitsLost, ConnectionReplaced } from '../warehouse/errors.ts';
import { closeKnown, closeWebhooks } from '../warehouse/webhooks/close-webhooks.ts';
import { hasSyncedSinceRefusal } from '../warehouse/runs/has-synced-since-refusal.ts';
import { holdWebhooks } from '../warehouse/webhooks/hold-webhooks.ts';
import { leaveToList, listsWereRead } from '../warehouse/webhooks/leave-to-list.ts';
import { readWaiting } from '../warehouse/webhooks/waiting-webhooks.ts';
import { resourcesOfHistory, wantReconcilesWith } from '../warehouse/reconcile/want-reconcile.ts';
import { applyRecords, notReadyMilliseconds, refusedMilliseconds } from './apply-records.ts';
import { checkedConnection } from './checked-run.ts';
import type { Dependencies } from './dependencies.ts';
import { handlingOf } from '../requests/handling.ts';
import { heartbeating } from './heartbeating.ts';
import { requestSync, tellDataReady } from './request-sync.ts';
import { waitFor, waitOf, type Wait } from '../requests/wait.ts';
import { createWebhookRun, type WebhookRun } from './webhook-run.ts';

export interface ApplyWebhooksInput {
  runId: string;
  connection: string;
}

export interface WebhooksApplied {
  /** more: further webhooks are due; wait: the service asks for a pause first. */
  state: 'more' | 'done' | 'wait';
  wait?: Wait & { notBefore: number };
  /** Records fetched. */
  records: number;
}

/**
 * Applies a connection's waiting webhooks, for one chunk. A webhook is a hint: each record that is named is fetched once, however often it
 * is named. Idempotent; if it is killed, the next attempt does the rest.
 */
export function applyWebhooks(
  dependencies: Dependencies,
  input: ApplyWebhooksInput,
): Promise<WebhooksApplied> {
  return heartbeating(async (signal) => {
    checkedConnection(input.connection);
    const run = createWebhookRun(dependencies.warehouse, input);
    try {
      const state = await applyDue(dependencies, { ...input, run, signal });
      await run.finish();
      return { state, records: run.records() };
    } catch (error) {
      if (signal.aborted || !(error instanceof Error)) throw error;
      return await settleFailure(dependencies, { ...input, run, error });
    }
  });
}

interface Applying extends ApplyWebhooksInput {
  run: WebhookRun;
  signal: AbortSignal;
}

/** For more records than this a list is read instead: one request returns a page of 500. */
const mostFetched = 300;

async function applyDue(dependencies: Dependencies, applying: Applying): Promise<'more' | 'done'> {
  const { warehouse, temporal } = dependencies;
  const { connection, runId } = applying;
  const { dataReady, resources: due } = await readWaiting(warehouse, connection);
  if (dataReady.length > 0) {
    await tellDataReady(temporal, connection);
    const outcome = 'a sync was told, or started';
    await wantReconcilesWith(warehouse.pool, await resourcesOfHistory(warehouse, connection), (client) =>
      closeWebhooks(client, { webhooks: dataReady, status: 'applied', outcome, runId }),
    );
  }
  const announced = [...due.keys()].flatMap((name) => resources.filter((resource) => resource.name === name));
  for (const resource of announced) await closeKnown(warehouse, { connectionId: connection, resource });
  if (sumCounts(due) > mostFetched) await leaveToLists(dependencies, connection);
  return announced.length === 0 ? 'done' : applyRecords(dependencies, { ...applying, announced });
}

/** Leaves the resources with many records to lists. Counts again, since webhooks with known news were just closed. */
async function leaveToLists({ warehouse, temporal }: Dependencies, connection: string): Promise<void> {
  const { resources: due } = await readWaiting(warehouse, connection);
  if (sumCounts(due) <= mostFetched) return;
  const large = resources.filter(({ name }) => (due.get(name) ?? 0) > mostFetched / due.size);
  // In this order: a running sync may end at any moment, and its end makes the webhooks due again.
  for (const resource of large) await leaveToList(warehouse, { connectionId: connection, resource });
  try {
    await requestSync(temporal, connection);
  } catch (error) {
    await listsWereRead(warehouse, connection);
    throw error;
  }
}

/** Holds back the whole connection if the service asks for a pause. Rethrows errors that Temporal is to retry. */
async function settleFailure(
  { warehouse, temporal }: Dependencies,
  failed: { connection: string; run: WebhookRun; error: Error },
): Promise<WebhooksApplied> {
  const { connection: connectionId, run, error } = failed;
  const wait = waitOf(error);
  if (wait !== undefined) {
    const milliseconds = wait.milliseconds ?? notReadyMilliseconds;
    await holdWebhooks(warehouse, { connectionId, milliseconds });
    await run.finish();
    return { state: 'wait', wait: waitFor(wait.reason, milliseconds), records: run.records() };
  }
  // These errors concern this run alone. The webhooks still wait, and the next run applies them.
  const isOver = error instanceof CommitsLost || error instanceof ConnectionReplaced;
  if (handlingOf(error) === 'stop' && !isOver) {
    await holdWebhooks(warehouse, { connectionId, milliseconds: refusedMilliseconds });
    await run.finish(error);
    // The sync meets the same refusal, and pauses the connection with a sentence that says what to do.
    if (!(await hasSyncedSinceRefusal(warehouse, connectionId))) await requestSync(temporal, connectionId);
  }
  throw error;
}

function sumCounts(records: ReadonlyMap<string, number>): number {
  return [...records.values()].reduce((sum, count) => sum + count, 0);
}
