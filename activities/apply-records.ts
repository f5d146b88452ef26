import type { Resource } from '../resources/resource.ts';
import { askForRecords } from '../requests/ask-for-records.ts';
import { createCompanyProof, type CompanyProof } from '../requests/company-proof.ts';
import { createCountingClient, type CountingClient } from '../requests/counting-client.ts';
import { handlingOf } from '../requests/handling.ts';
import { waitOf } from '../requests/wait.ts';
import { readAccess } from '../warehouse/connections/read-access.ts';
import { heldIds } from '../warehouse/landing/held-ids.ts';
import { putOffResource } from '../warehouse/webhooks/close-webhooks.ts';
import { holdWebhooks } from '../warehouse/webhooks/hold-webhooks.ts';
import { takeWaiting } from '../warehouse/webhooks/waiting-webhooks.ts';
import { hasSyncedSinceRefusal } from '../warehouse/runs/has-synced-since-refusal.ts';
import { applyBatch } from './apply-batch.ts';
import { pagesOfChunk, startChunk, type Chunk } from './chunk.ts';
import type { Dependencies } from './dependencies.ts';
import { requestSync } from './request-sync.ts';
import type { WebhookRun } from './webhook-run.ts';

interface Applying {
  readonly connection: string;
  readonly runId: string;
  readonly run: WebhookRun;
  readonly signal: AbortSignal;
}

/**
 * Fetches the records that webhooks of these resources have named, for one chunk, of which each resource gets its share. If the service answers
 * for no record of a resource, the webhooks of that resource alone are put off. Throws errors that concern more than a resource.
 */
export async function applyRecords(
  dependencies: Dependencies,
  { announced, ...applying }: Applying & { announced: readonly Resource[] },
): Promise<'more' | 'done'> {
  const { warehouse, apiAddress, secretKey, stopping } = dependencies;
  const { connection: connectionId, runId, signal } = applying;
  const access = await readAccess(warehouse, secretKey, { connectionId, apiAddress });
  const counting = createCountingClient(dependencies.api);
  const proof = createCompanyProof(dependencies, { connectionId, runId, access, api: counting.api, signal });
  const chunk = startChunk(stopping);
  const batches = Math.ceil(pagesOfChunk / announced.length);
  const failures = new Map<Resource, Error>();
  let state: 'more' | 'done' = 'done';
  for (const resource of announced) {
    const ofResource = { ...applying, resource, token: access.token, proof, counting, chunk, batches };
    const ended = await applyResource(dependencies, ofResource);
    if (ended instanceof Error) failures.set(resource, ended);
    if (ended === 'more' || chunk.isOver()) state = 'more';
    if (chunk.isOver()) break;
  }
  const isRefused = announced.every((resource) => handlingOf(failures.get(resource)) === 'stop');
  if (isRefused && !(await hasSyncedSinceRefusal(warehouse, connectionId))) {
    // A sync may meet the same refusal: then it pauses the connection with a sentence that says what to do. If it gets through, it ends the hold.
    await holdWebhooks(warehouse, { connectionId, milliseconds: refusedMilliseconds });
    await requestSync(dependencies.temporal, connectionId);
    return 'done';
  }
  for (const [resource, failure] of failures)
    await putOffResource(warehouse, { connectionId, resource, milliseconds: pauseAfter(failure) });
  return state;
}

/** Records fetched concurrently: a response takes longer than its landing, and other connections need their turn too. */
const fetchesAtOnce = 4;
const recordsAtOnce = 40;

interface ApplyingResource extends Applying {
  readonly resource: Resource;
  readonly token: string;
  readonly proof: CompanyProof;
  readonly counting: CountingClient;
  readonly chunk: Chunk;
  /** At most so many. */
  readonly batches: number;
}

/** Returns the error that every record of the resource gets, if there is one. */
async function applyResource(
  dependencies: Dependencies,
  { token: accessToken, chunk, batches, ...applying }: ApplyingResource,
): Promise<'more' | 'done' | Error> {
  const { warehouse } = dependencies;
  const { connection: connectionId, resource, counting, signal } = applying;
  const held = (): Promise<string[]> => heldIds(warehouse, { connectionId, resource });
  const asking = askForRecords({ api: counting.api, resource, accessToken, signal, readAlive: held });
  let inRow = 0;
  let left = batches;
  for (;;) {
    const waiting = await takeWaiting(warehouse, { connectionId, resource, limit: recordsAtOnce });
    if (waiting.length === 0) return 'done';
    for (let at = 0; at < waiting.length; at += fetchesAtOnce) {
      const records = waiting.slice(at, at + fetchesAtOnce);
      const failing = await applyBatch(dependencies, { ...applying, records, asking, held, inRow });
      chunk.countPage();
      if (failing instanceof Error) return failing;
      inRow = failing;
      left -= 1;
      if (left === 0 || chunk.isOver()) return 'more';
    }
  }
}

const downMilliseconds = 10_000;
/** Webhooks are applied within 30 s of the end of any obstacle. */
export const notReadyMilliseconds = 20_000;
/** Somebody has to set another token, or the platform's access; until then every request would be refused. */
export const refusedMilliseconds = 300_000;

function pauseAfter(failure: Error): number {
  const wait = waitOf(failure);
  if (wait !== undefined) return wait.milliseconds ?? notReadyMilliseconds;
  return handlingOf(failure) === 'stop' ? refusedMilliseconds : downMilliseconds;
}
