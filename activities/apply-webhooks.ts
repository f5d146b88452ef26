import { resources } from '../resources/index.ts';
import type { Resource } from '../resources/resource.ts';
import { readAccess } from '../warehouse/connections/read-access.ts';
import { heldIds } from '../warehouse/landing/held-ids.ts';
import { CommitsLost, ConnectionReplaced } from '../warehouse/errors.ts';
import { lookbackOf } from '../warehouse/passes/lookback-of.ts';
import { closeKnown, closeWebhooks } from '../warehouse/webhooks/close-webhooks.ts';
import { holdWebhooks } from '../warehouse/webhooks/hold-webhooks.ts';
import { leaveToList, listsWereRead } from '../warehouse/webhooks/leave-to-list.ts';
import { readWaiting, takeWaiting } from '../warehouse/webhooks/waiting-webhooks.ts';
import { resourcesOfHistory, wantReconcilesWith } from '../warehouse/reconcile/want-reconcile.ts';
import { applyAnnounced, fetchAnnounced, isUnnamed } from './apply-announced.ts';
import { askForRecords } from '../requests/ask-for-records.ts';
import { checkedConnection } from './checked-run.ts';
import { startChunk } from './chunk.ts';
import { createCompanyProof } from '../requests/company-proof.ts';
import { countRequestsOf } from '../requests/counting-client.ts';
import type { Dependencies } from './dependencies.ts';
import { handlingOf } from '../requests/handling.ts';
import { heartbeating } from './heartbeating.ts';
import { judgeAnnouncedFailures, type FailedRecord } from './judge-announced-failures.ts';
import { requestSync, tellDataReady } from './request-sync.ts';
import { waitFor, waitOf, type Wait } from '../requests/wait.ts';
import { createWebhookRun, type WebhookRun } from './webhook-run.ts';

export interface ApplyWebhooksInput {
  runId: string;
  connection: string;
}

export interface WebhooksApplied {
  /** more: further ones are due; wait: the service wants to be left alone first. */
  state: 'more' | 'done' | 'wait';
  wait?: Wait & { notBefore: number };
  /** Records asked for. */
  records: number;
}

/**
 * Applies what waits of a connection, for one chunk: a webhook is a hint, so each record it names is fetched, once however often it
 * is named. Done twice it does nothing more; killed anywhere, the next one does what is left.
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

/** For more records than this a list is read instead: a page of it brings 500 for one request. */
const crowd = 300;

async function applyDue(dependencies: Dependencies, applying: Applying): Promise<'more' | 'done'> {
  const { warehouse, temporal } = dependencies;
  const { connection, runId } = applying;
  const { ready, resources: due } = await readWaiting(warehouse, connection);
  if (ready.length > 0) {
    await tellDataReady(temporal, connection);
    const outcome = 'a sync was told, or started';
    await wantReconcilesWith(warehouse.pool, await resourcesOfHistory(warehouse, connection), (client) =>
      closeWebhooks(client, { webhooks: ready, status: 'applied', outcome, runId }),
    );
  }
  const announced = resources.filter(({ name }) => due.has(name));
  for (const resource of announced) await closeKnown(warehouse, { connectionId: connection, resource });
  if (sumOf(due) > crowd) await leaveCrowdToList(dependencies, { connection, announced });
  return announced.length === 0 ? 'done' : applyRecords(dependencies, { ...applying, announced });
}

/** What is known by now was closed a moment ago, so the crowd is counted again. */
async function leaveCrowdToList(
  { warehouse, temporal }: Dependencies,
  { connection, announced }: { connection: string; announced: readonly Resource[] },
): Promise<void> {
  const { resources: due } = await readWaiting(warehouse, connection);
  if (sumOf(due) <= crowd) return;
  // In this order: a sync that runs may end at any moment, and its end is what makes them due again.
  for (const resource of announced) await leaveToList(warehouse, { connectionId: connection, resource });
  try {
    await requestSync(temporal, connection);
  } catch (error) {
    await listsWereRead(warehouse, connection);
    throw error;
  }
}

/** Records asked for at once: an answer takes longer than its landing, and other connections want their turn too. */
const lanes = 4;
const recordsAtOnce = 40;
/** A service that is down is asked again after this time. */
const downMilliseconds = 10_000;

async function applyRecords(
  dependencies: Dependencies,
  { announced, connection, runId, run, signal }: Applying & { announced: readonly Resource[] },
): Promise<'more' | 'done'> {
  const { warehouse, apiAddress, secretKey, stopping, policies } = dependencies;
  const access = await readAccess(warehouse, secretKey, { connectionId: connection, apiAddress });
  const counting = countRequestsOf(dependencies.api);
  const proof = createCompanyProof(dependencies, {
    connectionId: connection,
    runId,
    access,
    api: counting.api,
    signal,
  });
  const chunk = startChunk(stopping);
  let inRow = 0;
  for (const resource of announced) {
    const held = (): Promise<string[]> => heldIds(warehouse, { connectionId: connection, resource });
    const asking = askForRecords({
      api: counting.api,
      resource,
      accessToken: access.token,
      signal,
      readAlive: held,
    });
    for (;;) {
      const waiting = await takeWaiting(warehouse, {
        connectionId: connection,
        resource,
        limit: recordsAtOnce,
      });
      if (waiting.length === 0) break;
      for (let at = 0; at < waiting.length; at += lanes) {
        const records = waiting.slice(at, at + lanes);
        // Before anything is asked: what is answered after the connection was removed has no run any more.
        await run.begin();
        const answers = await Promise.all(records.map((record) => fetchAnnounced(asking, record, signal)));
        await run.add(resource, { requests: counting.takeCount() });
        if (answers.some(isUnnamed)) await proof.requireNow(null);
        const failed: FailedRecord[] = [];
        const lookbackMilliseconds = lookbackOf(resource, policies.lookbackMilliseconds);
        for (const answer of answers) {
          const where = { connectionId: connection, resource, runId, proof, lookbackMilliseconds };
          const { counts, failure } = await applyAnnounced(warehouse, where, answer);
          await run.add(resource, counts);
          inRow = failure === undefined ? 0 : inRow + 1;
          if (failure !== undefined) failed.push({ id: answer.announced.id, error: failure });
        }
        const verdict = await judgeAnnouncedFailures(failed, { inRow, held, fetch: asking.fetch });
        for (const { error } of failed) run.noteFailure(resource, error);
        if (verdict === 'answers') inRow = 0;
        if (verdict === 'is down') {
          await holdWebhooks(warehouse, { connectionId: connection, milliseconds: downMilliseconds });
          return 'done';
        }
        if (chunk.pageWasLast()) return 'more';
      }
    }
  }
  return 'done';
}

/** Somebody has to set another token, or the platform's access: until then there is nothing to be had. */
const refusedMilliseconds = 300_000;
const notReadyMilliseconds = 60_000;

/** Where the service does not want to be asked, the whole connection is held back; what is to be retried by Temporal is thrown again. */
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
  // That is about this run alone. What waits is there still, and the next one applies it.
  const isOver = error instanceof CommitsLost || error instanceof ConnectionReplaced;
  if (handlingOf(error) === 'stop' && !isOver) {
    await holdWebhooks(warehouse, { connectionId, milliseconds: refusedMilliseconds });
    await run.finish(error);
    // It meets the same refusal, and pauses the connection with a sentence that says what to do.
    await requestSync(temporal, connectionId);
  }
  throw error;
}

function sumOf(records: ReadonlyMap<string, number>): number {
  return [...records.values()].reduce((sum, count) => sum + count, 0);
}
