import { CredentialsRefused, isAnswer, RecordGone } from '../source/errors.ts';
import { isReplaced } from '../warehouse/connections/is-replaced.ts';
import { readAccess } from '../warehouse/connections/read-access.ts';
import { noteAnswer } from '../warehouse/passes/note-answer.ts';
import { countRequests, noteWorking } from '../warehouse/passes/note-failing.ts';
import type { PassInHand } from '../warehouse/passes/pass.ts';
import {
  confirmAbsent,
  endOfSecond,
  readUnconfirmed,
  type Unconfirmed,
} from '../warehouse/reconcile/confirm-absent.ts';
import { takeListing, type ListingInHand } from '../warehouse/reconcile/listing-in-hand.ts';
import { landAhead } from '../warehouse/reconcile/land-ahead.ts';
import { idsToCompare } from '../warehouse/reconcile/fetches-failing.ts';
import { listedIds } from '../warehouse/reconcile/listed-ids.ts';
import { askForRecords, type Asking } from '../requests/ask-for-records.ts';
import { startChunk } from './chunk.ts';
import { createCompanyProof, type CompanyProof } from '../requests/company-proof.ts';
import { createCountingClient } from '../requests/counting-client.ts';
import type { Dependencies } from './dependencies.ts';
import { heartbeating } from './heartbeating.ts';
import { isAnotherListAnswered } from './is-another-list-answered.ts';
import { judgeFetchFailure } from './judge-fetch-failure.ts';
import { judgeRequestFailure } from './judge-request-failure.ts';
import type { Absence } from '../requests/prove-absence.ts';
import { createListing, createPass, type ReconcileInput } from './reconcile-input.ts';
import { waitOf, type Wait } from '../requests/wait.ts';

export interface ConfirmByFetchInput extends ReconcileInput {
  /** As in `ReadStreamInput`. */
  waited?: true;
}

export interface Confirmed {
  state: 'more' | 'done' | 'wait';
  wait?: Wait;
  /** Fetches prove nothing; only a second listing can. Absent in histories of releases before 0.6. */
  unfetchable?: true;
}

/**
 * Fetches absent records, and records that are ahead, one by one, for one chunk. A record that is gone is confirmed; a record that is
 * returned is landed. A record whose fetch alone keeps failing holds up no other, and stays undecided.
 */
export async function confirmByFetch(
  dependencies: Dependencies,
  input: ConfirmByFetchInput,
): Promise<Confirmed> {
  return heartbeating(async (signal) => {
    const { warehouse, api, apiAddress, secretKey, stopping } = dependencies;
    const of = createListing(input);
    const access = await readAccess(warehouse, secretKey, { connectionId: input.connection, apiAddress });
    const pass = createPass(of, access.mark);
    // `settleResource` then finds the resource unlisted, and it is listed again.
    if (!(await takeListing(warehouse, of))) return { state: 'done' };
    const counting = createCountingClient(api);
    const chunk = startChunk(stopping);
    const asking = askForRecords({
      api: counting.api,
      resource: of.resource,
      accessToken: access.token,
      signal,
      readAlive: () => listedIds(warehouse, of),
    });
    let othersAnswer = false;
    try {
      const { connectionId, runId } = of;
      if (input.waited === true)
        othersAnswer = await isAnotherListAnswered(warehouse, pass, {
          api: counting.api,
          accessToken: access.token,
          signal,
        });
      const proof = createCompanyProof(dependencies, {
        connectionId,
        runId,
        access,
        api: counting.api,
        signal,
      });
      // A refusal names no company: under another company's token every record would be gone.
      await proof.require(null);
      let failure: Error | undefined;
      for (const unconfirmed of await readUnconfirmed(warehouse, of, fetchesPerChunk)) {
        const request = { of, unconfirmed, pass, proof, asking };
        const { outcome, error } = await fetchOrJudge(dependencies, request, signal);
        if (outcome === 'again') {
          failure = error;
          othersAnswer = true;
        }
        await noteWorking(warehouse, pass);
        if (outcome === 'unproved') return { state: 'done', unfetchable: true };
        if (chunk.pageWasLast()) return { state: 'more' };
      }
      const [another] = await readUnconfirmed(warehouse, of, 1);
      // All the rest fails: it is fetched again after a pause.
      if (another?.failing === true && failure !== undefined) throw failure;
      return { state: another === undefined ? 'done' : 'more' };
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof CredentialsRefused && (await isReplaced(warehouse, pass)))
        return { state: 'more' };
      const wait = waitOf(error);
      const ofOneAlone = othersAnswer && isAnswer(error);
      // The requests are counted below.
      const failure = await judgeRequestFailure(dependencies, { pass, requests: 0, error, ofOneAlone });
      if (wait === undefined || failure !== error) throw failure;
      return { state: 'wait', wait: { ...wait, ofOneAlone } };
    } finally {
      await countRequests(warehouse, { pass, requests: counting.takeCount() });
    }
  });
}

const fetchesPerChunk = 50;

interface FetchRequest {
  readonly of: ListingInHand;
  readonly unconfirmed: Unconfirmed;
  readonly pass: PassInHand;
  readonly proof: CompanyProof;
  readonly asking: Asking;
}

/** Returns the result for one record; if its fetch alone fails, whether it is retried. Throws errors that concern more than this record. */
async function fetchOrJudge(
  dependencies: Dependencies,
  request: FetchRequest,
  signal: AbortSignal,
): Promise<{ outcome: Absence | 'fetched' | 'again' | 'undecided'; error?: Error }> {
  const { warehouse } = dependencies;
  const { of, unconfirmed, asking } = request;
  try {
    return { outcome: await fetchOne(warehouse, request) };
  } catch (error) {
    if (signal.aborted || !(error instanceof Error)) throw error;
    const { id } = unconfirmed;
    const listed = await listedIds(warehouse, of);
    const others = await idsToCompare(warehouse, of, { listed, except: id });
    const outcome = await judgeFetchFailure(dependencies, { of, id, error, others, fetch: asking.fetch });
    return { outcome, error };
  }
}

async function fetchOne(
  warehouse: Dependencies['warehouse'],
  { of, unconfirmed, pass, proof, asking }: FetchRequest,
): Promise<Absence | 'fetched'> {
  const { id, kind, metAt } = unconfirmed;
  try {
    const { record, connection, servedAt } = await asking.fetch(id);
    await proof.requireNow(connection);
    await noteAnswer(warehouse, { pass, resource: of.resource, servedAt });
    const fetched = { ...of, record, token: proof.of.token };
    await landAhead(warehouse, { ...fetched, id, kind });
    return 'fetched';
  } catch (error) {
    if (!(error instanceof RecordGone)) throw error;
    const absence = await asking.proveAbsence(error, id);
    await noteAnswer(warehouse, { pass, resource: of.resource, servedAt: error.servedAt });
    const goneBy = endOfSecond(error.servedAt);
    if (absence === 'absent') await confirmAbsent(warehouse, of, { recordId: id, goneBy, metAt });
    return absence;
  }
}
