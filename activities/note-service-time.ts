import { isAnswer, NotSupported } from '../source/errors.ts';
import { listOfOne } from '../source/lists.ts';
import type { ListPage } from '../source/responses.ts';
import { readAccess } from '../warehouse/connections/read-access.ts';
import { noteAnswer } from '../warehouse/passes/note-answer.ts';
import { countRequests, noteWorking } from '../warehouse/passes/note-failing.ts';
import type { ListingInHand } from '../warehouse/reconcile/listing-in-hand.ts';
import { createCompanyProof } from '../requests/company-proof.ts';
import { createCountingClient } from '../requests/counting-client.ts';
import type { Dependencies } from './dependencies.ts';
import { isAnotherListAnswered } from './is-another-list-answered.ts';
import { judgeRequestFailure } from './judge-request-failure.ts';
import { ListMissing } from './list-missing.ts';
import { createPass } from './reconcile-input.ts';
import { retryWithDeadline } from '../requests/retry-with-deadline.ts';
import { waitOf } from '../requests/wait.ts';

/** The service has sent its time before; accepting one answer without it would hide how long the host was suspended. */
class TimeNotTold extends Error {
  override readonly name = 'TimeNotTold';
  readonly handling = 'retry';

  constructor(path: string) {
    super(`GET ${path} returned no Date header, although earlier responses had one; retrying.`);
  }
}

/**
 * Asks the service for a single record, and notes the time of the answer: a host that was suspended since the listing, or while it held a page,
 * cannot tell from its own clock. The same answer, or the answer of a list that names a company, proves that the token still opens the
 * connection's company. Throws TimeNotTold, IdentityChanged, and the errors of the list.
 */
export async function noteServiceTime(
  dependencies: Dependencies,
  listing: ListingInHand,
  signal: AbortSignal,
): Promise<void> {
  const { warehouse, api, apiAddress, secretKey } = dependencies;
  const { connectionId, resource, runId } = listing;
  const access = await readAccess(warehouse, secretKey, { connectionId, apiAddress });
  const pass = createPass(listing, access.mark);
  const counting = createCountingClient(api);
  const request = { accessToken: access.token, ...listOfOne(resource), signal };
  const proof = createCompanyProof(dependencies, { connectionId, runId, access, api: counting.api, signal });
  try {
    const ask = (): Promise<ListPage> => retryWithDeadline(() => counting.api.list(request), signal);
    const { connection, ...first } = await ask();
    await retryWithDeadline(() => proof.requireNow(connection), signal);
    // Another list was asked for the company. Only an answer after it shows a suspension in between.
    const { servedAt } = connection === null ? await ask() : first;
    const tells = await noteAnswer(warehouse, { pass, resource, servedAt });
    if (tells && servedAt === null) throw new TimeNotTold(resource.listPath);
    await noteWorking(warehouse, pass);
  } catch (error) {
    if (signal.aborted) throw error;
    const failure = error instanceof NotSupported ? new ListMissing(error) : error;
    // By now it has been retried for a minute.
    const ofOneAlone =
      waitOf(failure) !== undefined &&
      isAnswer(failure) &&
      (await isAnotherListAnswered(warehouse, pass, {
        api: counting.api,
        accessToken: access.token,
        signal,
      }));
    // The requests are counted below.
    throw await judgeRequestFailure(dependencies, { pass, requests: 0, error: failure, ofOneAlone });
  } finally {
    await countRequests(warehouse, { pass, requests: counting.takeCount() });
  }
}
