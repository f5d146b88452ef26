import type { Resource } from '../resources/resource.ts';
import type { Asking } from '../requests/ask-for-records.ts';
import { mayConcernResource } from '../requests/concerns-one-alone.ts';
import type { CompanyProof } from '../requests/company-proof.ts';
import type { CountingClient } from '../requests/counting-client.ts';
import { lookbackOf } from '../warehouse/passes/lookback-of.ts';
import { mostTries, putOffWebhooks } from '../warehouse/webhooks/close-webhooks.ts';
import type { WaitingRecord } from '../warehouse/webhooks/waiting-webhooks.ts';
import { applyAnnounced, fetchAnnounced, isUnnamed, putOff } from './apply-announced.ts';
import type { Dependencies } from './dependencies.ts';
import { judgeAnnouncedFailures, type FailedRecord } from './judge-announced-failures.ts';
import type { WebhookRun } from './webhook-run.ts';

export interface Batch {
  readonly connection: string;
  readonly runId: string;
  readonly run: WebhookRun;
  readonly signal: AbortSignal;
  readonly resource: Resource;
  readonly records: readonly WaitingRecord[];
  readonly asking: Asking;
  readonly held: () => Promise<readonly string[]>;
  readonly proof: CompanyProof;
  readonly counting: CountingClient;
  /** Consecutive failed records before this batch. */
  readonly inRow: number;
}

/**
 * Fetches a few records at once and applies the answers. Returns the number of consecutive failures so far, or the error that every record of
 * the resource gets.
 */
export async function applyBatch(
  { warehouse, policies }: Dependencies,
  batch: Batch,
): Promise<number | Error> {
  const { connection, runId, run, signal, resource, records, asking, held, proof, counting } = batch;
  // Before any request: answers that arrive after the connection was removed no longer have a run.
  await run.begin();
  const answers = await Promise.all(records.map((record) => fetchAnnounced(asking, record, signal)));
  await run.add(resource, { requests: counting.takeCount() }, records.length);
  const unproved = answers.some(isUnnamed) ? await proveUnnamed(batch) : undefined;
  const lookbackMilliseconds = lookbackOf(resource, policies.lookbackMilliseconds);
  const where = { connectionId: connection, resource, runId, proof, lookbackMilliseconds };
  const failed: FailedRecord[] = [];
  let { inRow } = batch;
  for (const answer of answers) {
    const { counts, failure } =
      unproved !== undefined && isUnnamed(answer)
        ? await putOff(warehouse, answer.announced, unproved)
        : await applyAnnounced(warehouse, where, answer);
    await run.add(resource, counts);
    inRow = failure === undefined ? 0 : inRow + 1;
    if (failure !== undefined) failed.push({ ...answer.announced, error: failure });
  }
  for (const { error } of failed) run.noteFailure(resource, error);
  const verdict = await judgeAnnouncedFailures(failed, { inRow, held, fetch: asking.fetch });
  if (verdict instanceof Error) return verdict;
  if (verdict === 'may be down') return inRow;
  for (const { webhooks } of failed.filter(({ tries }) => tries >= mostTries))
    await putOffWebhooks(warehouse, { webhooks, milliseconds: restMilliseconds });
  return 0;
}

/** The pause of a record that has failed many times while others were answered. */
const restMilliseconds = 300_000;

/** Returns why nothing named the company: then the unnamed answers cannot be used, and their records are fetched again. */
async function proveUnnamed({ proof, run, resource }: Batch): Promise<Error | undefined> {
  try {
    await proof.requireNow(null);
    return undefined;
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    run.noteFailure(resource, error);
    if (!mayConcernResource(error)) throw error;
    return error;
  }
}
