import { activityInfo } from '@temporalio/activity';
import type { Resource } from '../resources/resource.ts';
import { CredentialsRefused, RecordGone } from '../source/errors.ts';
import { isReplaced } from '../warehouse/connections/is-replaced.ts';
import { readAccess } from '../warehouse/connections/read-access.ts';
import { landFetched } from '../warehouse/landing/land-fetched.ts';
import { countRequests, noteWorking } from '../warehouse/passes/note-failing.ts';
import type { PassInHand } from '../warehouse/passes/pass.ts';
import {
  confirmAbsent,
  confirmBySecondListing as confirmInWarehouse,
  dismissAbsent,
  endOfSecond,
  holdListing,
  listAgain as listAgainInWarehouse,
  readUnconfirmed,
  type Unconfirmed,
} from '../warehouse/reconcile/confirm-absent.ts';
import {
  deleteAbsent as deleteInWarehouse,
  deleteApproved as deleteApprovedInWarehouse,
} from '../warehouse/reconcile/delete-absent.ts';
import type { DeletionQuestion } from '../warehouse/reconcile/deletion-question.ts';
import { findAbsent as findInWarehouse } from '../warehouse/reconcile/find-absent.ts';
import { finishResource as finishInWarehouse } from '../warehouse/reconcile/finish-resource.ts';
import { landAhead } from '../warehouse/reconcile/land-ahead.ts';
import { isListed } from '../warehouse/reconcile/is-listed.ts';
import { listedIds } from '../warehouse/reconcile/listed-ids.ts';
import type { ResourceOfRun } from '../warehouse/reconcile/resource-of-run.ts';
import { addToRun } from '../warehouse/runs/add-to-run.ts';
import { askForRecords, type Asking } from './ask-for-records.ts';
import { startChunk } from './chunk.ts';
import { createCompanyProof, type CompanyProof } from './company-proof.ts';
import { countRequestsOf } from './counting-client.ts';
import type { Dependencies } from './dependencies.ts';
import { heartbeating } from './heartbeating.ts';
import { judgeRequestFailure } from './judge-request-failure.ts';
import { resourcesNamed } from './plan-reconcile.ts';
import type { Absence } from './prove-absence.ts';
import { waitOf, type Wait } from './wait.ts';

export interface ReconcileInput {
  runId: string;
  connection: string;
  resource: string;
}

export interface AbsentFound {
  absent: number;
  /**
   * Records that only a fetch decides about: the listing showed them under an older version than the one held, or they are so young
   * that a list may lag behind them. Absent in histories of releases before 0.6.
   */
  toFetch?: number;
  /** How absence is confirmed: by whatever costs fewer requests. */
  confirmBy: 'fetch' | 'listing';
}

/** Compares a complete listing with what the warehouse holds. */
export async function findAbsent(dependencies: Dependencies, input: ReconcileInput): Promise<AbsentFound> {
  return heartbeating(async () => {
    const of = resourceOfRun(input);
    const { warehouse, lookbackMilliseconds } = dependencies;
    const { absent, young, ahead, pages } = await findInWarehouse(warehouse, { ...of, lookbackMilliseconds });
    const { fetchable } = of.resource;
    const confirmBy = fetchable && absent <= pages ? 'fetch' : 'listing';
    return { absent, toFetch: fetchable ? ahead + young : 0, confirmBy };
  });
}

export interface Confirmed {
  state: 'more' | 'done' | 'wait';
  wait?: Wait;
  /** Fetches prove nothing here: only a second listing can. Absent in histories of releases before 0.6. */
  unfetchable?: true;
}

/**
 * Asks for absent records, and for those that are ahead, one by one, for one chunk: one that is gone is confirmed; a record that
 * comes is landed.
 */
export async function confirmByFetch(dependencies: Dependencies, input: ReconcileInput): Promise<Confirmed> {
  return heartbeating(async (signal) => {
    const { warehouse, api, apiAddress, secretKey, stopping } = dependencies;
    const of = resourceOfRun(input);
    const access = await readAccess(warehouse, secretKey, { connectionId: input.connection, apiAddress });
    const pass = passOf(of, access.mark);
    await holdListing(warehouse, pass);
    const counting = countRequestsOf(api);
    const chunk = startChunk(stopping);
    const asking = askForRecords({
      api: counting.api,
      resource: of.resource,
      accessToken: access.token,
      signal,
      readAlive: () => listedIds(warehouse, of),
    });
    try {
      const { connectionId, runId } = of;
      const proof = createCompanyProof(dependencies, {
        connectionId,
        runId,
        access,
        api: counting.api,
        signal,
      });
      // A refusal names nobody: under the token of another company everything would be gone.
      await proof.require(null);
      for (const unconfirmed of await readUnconfirmed(warehouse, of, fetchesPerChunk)) {
        const absence = await fetchOne(warehouse, { of, unconfirmed, proof, asking });
        await noteWorking(warehouse, pass);
        if (absence === 'unproved') return { state: 'done', unfetchable: true };
        if (chunk.pageWasLast()) return { state: 'more' };
      }
      const [another] = await readUnconfirmed(warehouse, of, 1);
      return { state: another === undefined ? 'done' : 'more' };
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof CredentialsRefused && (await isReplaced(warehouse, pass)))
        return { state: 'more' };
      const wait = waitOf(error);
      // The requests are counted below.
      if (wait === undefined) throw await judgeRequestFailure(dependencies, { pass, requests: 0, error });
      return { state: 'wait', wait };
    } finally {
      await countRequests(warehouse, { pass, requests: counting.takeCount() });
    }
  });
}

const fetchesPerChunk = 50;

async function fetchOne(
  warehouse: Dependencies['warehouse'],
  request: {
    of: ResourceOfRun;
    unconfirmed: Unconfirmed;
    proof: CompanyProof;
    asking: Asking;
  },
): Promise<Absence | 'fetched'> {
  const { of, unconfirmed, proof, asking } = request;
  const { id, kind } = unconfirmed;
  try {
    const { record, connection } = await asking.fetch(id);
    await proof.require(connection);
    const fetched = { ...of, record, token: proof.of.token };
    const { refused } =
      kind === 'ahead'
        ? await landAhead(warehouse, { ...fetched, id })
        : await landFetched(warehouse, fetched);
    // Then the run is no proof: what is held is not what the source has.
    if (refused !== undefined) await countQuarantined(warehouse, of);
    if (kind === 'ahead') return 'fetched';
    await dismissAbsent(warehouse, of, id);
    return 'fetched';
  } catch (error) {
    if (!(error instanceof RecordGone)) throw error;
    const absence = await asking.proveAbsence(error, id);
    const goneBy = endOfSecond(error.servedAt);
    if (absence === 'absent') await confirmAbsent(warehouse, of, { recordId: id, goneBy });
    return absence;
  }
}

async function countQuarantined(
  { pool }: Dependencies['warehouse'],
  { connectionId, resource, runId }: ResourceOfRun,
): Promise<void> {
  const stream = resource.streams[0]?.name ?? '';
  await addToRun(pool, { runId, connectionId, stream, counts: { quarantined: 1 } });
}

/** Opens the streams of the resource for a second listing. */
export async function listAgain({ warehouse }: Dependencies, input: ReconcileInput): Promise<void> {
  await listAgainInWarehouse(warehouse, resourceOfRun(input));
}

/** Confirms what a second complete listing did not show either. */
export async function confirmBySecondListing(
  { warehouse, lookbackMilliseconds }: Dependencies,
  input: ReconcileInput,
): Promise<void> {
  await heartbeating(() => confirmInWarehouse(warehouse, { ...resourceOfRun(input), lookbackMilliseconds }));
}

export interface ReconciledResource {
  deleted: number;
  waiting: number;
  held: number;
  equal: boolean;
  /** Nothing was done, since this run has not listed the resource. */
  unlisted?: true;
}

/**
 * Deletes what is absent, as far as that may be done without asking, and proves the result. `listings` is how often the
 * history says that the resource was listed, which after a reset may have been in another run.
 */
export async function settleResource(
  { warehouse, deleteLimit }: Dependencies,
  { listings = 1, ...input }: ReconcileInput & { listings?: number },
): Promise<ReconciledResource> {
  return heartbeating(async () => {
    const of = resourceOfRun(input);
    if (!(await isListed(warehouse, { ...of, listings })))
      return { deleted: 0, waiting: 0, held: 0, equal: false, unlisted: true };
    const { deleted, waiting, held } = await deleteInWarehouse(warehouse, { ...of, limit: deleteLimit });
    const { equal } = await finishInWarehouse(warehouse, { ...of, waiting, held });
    return { deleted, waiting, held, equal };
  });
}

/**
 * Deletes what a person was shown and approved. An approval of 0.5.0 does not say what that was: then nothing is deleted, and
 * anything that waits is something else.
 */
export async function deleteApproved(
  { warehouse }: Dependencies,
  input: {
    runId: string;
    connection: string;
    resources: readonly string[];
    approved?: DeletionQuestion;
  },
): Promise<{ deleted: number }> {
  const { runId, connection: connectionId, approved = {} } = input;
  const resources = resourcesNamed(input.resources);
  return heartbeating(async () => ({
    deleted: await deleteApprovedInWarehouse(warehouse, { connectionId, resources, runId, approved }),
  }));
}

function resourceOfRun({ connection, resource, runId }: ReconcileInput): ResourceOfRun {
  return { connectionId: connection, resource: resourceNamed(resource), runId };
}

function resourceNamed(name: string): Resource {
  const [resource] = resourcesNamed([name]);
  if (resource === undefined) throw new Error(`There is no resource ${name}.`);
  return resource;
}

/** Requests for single records belong to the resource's first stream. */
function passOf({ connectionId, resource, runId }: ResourceOfRun, token: string): PassInHand {
  return {
    connectionId,
    stream: resource.streams[0]?.name ?? '',
    kind: 'reconcile',
    part: '',
    runId,
    lease: activityInfo().activityId,
    token,
  };
}
