import type { Resource } from '../resources/resource.ts';
import { askForRecords } from '../requests/ask-for-records.ts';
import { createCompanyProof, type CompanyProof } from '../requests/company-proof.ts';
import { createCountingClient, type CountingClient } from '../requests/counting-client.ts';
import { handlingOf } from '../requests/handling.ts';
import { mayConcernOneResource } from '../requests/may-concern-one-resource.ts';
import { waitOf } from '../requests/wait.ts';
import { readAccess } from '../warehouse/connections/read-access.ts';
import { heldIds } from '../warehouse/landing/held-ids.ts';
import { putOffResource } from '../warehouse/webhooks/close-webhooks.ts';
import { holdWebhooks } from '../warehouse/webhooks/hold-webhooks.ts';
import { takeWaiting } from '../warehouse/webhooks/waiting-webhooks.ts';
import { applyBatch } from './apply-batch.ts';
import { startChunk, type Chunk } from './chunk.ts';
import type { Dependencies } from './dependencies.ts';
import type { WebhookRun } from './webhook-run.ts';

/** The pause before a service that is down is asked again. */
const downMilliseconds = 10_000;
export const notReadyMilliseconds = 60_000;

interface Applying {
  readonly connection: string;
  readonly runId: string;
  readonly run: WebhookRun;
  readonly signal: AbortSignal;
}

/**
 * Fetches the records that webhooks of these resources have named, for one chunk. If the service answers for no record of a resource, the webhooks
 * of that resource are put off; if it answers for no resource, all webhooks of the connection are held back. Throws a refusal, or a requested
 * pause, of all of them, and errors that concern more than a resource.
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
  const failures: Error[] = [];
  for (const resource of announced) {
    const ofResource = { ...applying, resource, token: access.token, proof, counting, chunk };
    const state = await applyResource(dependencies, ofResource);
    if (state === 'more') return 'more';
    if (state === 'done') continue;
    if (!mayConcernOneResource(state)) return holdBack(dependencies, { connectionId, failure: state });
    failures.push(state);
    await putOffResource(warehouse, { connectionId, resource, milliseconds: pauseAfter(state) });
  }
  const [failure] = failures;
  if (failure === undefined || failures.length < announced.length) return 'done';
  return holdBack(dependencies, { connectionId, failure });
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
}

/** Returns the error that every record of the resource gets, if there is one. */
async function applyResource(
  dependencies: Dependencies,
  { token: accessToken, chunk, ...applying }: ApplyingResource,
): Promise<'more' | 'done' | Error> {
  const { warehouse } = dependencies;
  const { connection: connectionId, resource, counting, signal } = applying;
  const held = (): Promise<string[]> => heldIds(warehouse, { connectionId, resource });
  const asking = askForRecords({ api: counting.api, resource, accessToken, signal, readAlive: held });
  let inRow = 0;
  for (;;) {
    const waiting = await takeWaiting(warehouse, { connectionId, resource, limit: recordsAtOnce });
    if (waiting.length === 0) return 'done';
    for (let at = 0; at < waiting.length; at += fetchesAtOnce) {
      const records = waiting.slice(at, at + fetchesAtOnce);
      const failing = await applyBatch(dependencies, { ...applying, records, asking, held, inRow });
      if (failing instanceof Error) return failing;
      inRow = failing;
      if (chunk.pageWasLast()) return 'more';
    }
  }
}

async function holdBack(
  { warehouse }: Dependencies,
  { connectionId, failure }: { connectionId: string; failure: Error },
): Promise<'done'> {
  if (handlingOf(failure) !== 'retry') throw failure;
  await holdWebhooks(warehouse, { connectionId, milliseconds: downMilliseconds });
  return 'done';
}

function pauseAfter(failure: Error): number {
  const wait = waitOf(failure);
  return wait === undefined ? downMilliseconds : (wait.milliseconds ?? notReadyMilliseconds);
}
