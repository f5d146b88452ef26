import { microsecondsOf } from '../resources/instant.ts';
import type { Resource } from '../resources/resource.ts';
import { RecordGone, RequestRefused } from '../source/errors.ts';
import type { FetchedRecord } from '../source/responses.ts';
import { landFetched } from '../warehouse/landing/land-fetched.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { wantReconcile } from '../warehouse/reconcile/want-reconcile.ts';
import type { CountsToAdd } from '../warehouse/runs/add-to-run.ts';
import { buryAnnounced } from '../warehouse/webhooks/bury-announced.ts';
import { closeWebhooks, putOffWebhooks } from '../warehouse/webhooks/close-webhooks.ts';
import type { WaitingRecord } from '../warehouse/webhooks/waiting-webhooks.ts';
import type { CompanyProof } from './company-proof.ts';
import { handlingOf } from './handling.ts';
import type { ProveAbsence } from './prove-absence.ts';

/** What the service says of a record that webhooks have named. */
export interface AnnouncedAnswer {
  readonly announced: WaitingRecord;
  readonly found: FetchedRecord | Error | 'unproved';
}

/** Asks for records of one resource. */
export interface Asking {
  readonly fetch: (id: string) => Promise<FetchedRecord>;
  readonly proveAbsence: ProveAbsence;
  readonly signal: AbortSignal;
}

/** Asks for a record; an error is an answer too, so that one record's does not cost the others theirs. */
export async function fetchAnnounced(asking: Asking, announced: WaitingRecord): Promise<AnnouncedAnswer> {
  const { fetch, proveAbsence, signal } = asking;
  try {
    return { announced, found: await fetch(announced.id) };
  } catch (error) {
    if (signal.aborted || !(error instanceof Error)) throw error;
    if (!(error instanceof RecordGone)) return { announced, found: error };
    const absence = await proveAbsence(error, announced.id).catch(asError(signal));
    return { announced, found: absence === 'absent' ? error : absence };
  }
}

function asError(signal: AbortSignal): (error: unknown) => Error {
  return (error) => {
    if (signal.aborted || !(error instanceof Error)) throw error;
    return error;
  };
}

/**
 * Does what follows from the answer, then closes the record's webhooks: killed in between, it is asked for once more. A record that
 * could not be asked for is tried later. Only a webhook that says so together with a service that has no such record is a
 * deletion; either alone is not.
 *
 * Throws errors of the service that concern more than this record.
 */
export async function applyAnnounced(
  warehouse: Warehouse,
  where: Announcement,
  { announced, found }: AnnouncedAnswer,
): Promise<{ counts: CountsToAdd; failure?: Error }> {
  const close = ({ status, outcome }: Pick<Applied, 'status' | 'outcome'>): Promise<void> =>
    closeWebhooks(warehouse.pool, { webhooks: announced.webhooks, status, outcome, runId: where.runId });
  if (found === 'unproved') {
    const applied = await leaveToReconcile(warehouse, where, announced);
    await close(applied);
    return { counts: applied.counts };
  }
  if (found instanceof RecordGone) {
    const applied = await applyGone(warehouse, where, { announced, found });
    await close(applied);
    return { counts: applied.counts };
  }
  if (found instanceof RequestRefused) {
    await close({ status: 'ignored', outcome: 'the service refuses to return the record' });
    return { counts: {} };
  }
  if (found instanceof Error) {
    if (handlingOf(found) !== 'retry') throw found;
    await putOffWebhooks(warehouse, announced.webhooks);
    return { counts: {}, failure: found };
  }
  const applied = await applyFound(warehouse, where, { announced, found });
  await close(applied);
  return { counts: applied.counts };
}

interface Announcement {
  readonly connectionId: string;
  readonly resource: Resource;
  readonly runId: string;
  readonly proof: CompanyProof;
}

interface Applied {
  status: 'applied' | 'ignored';
  outcome: string;
  counts: CountsToAdd;
}

/** The list brings what was changed; of what was deleted only a complete one says so. */
async function leaveToReconcile(
  { pool }: Warehouse,
  { connectionId, resource }: Pick<Announcement, 'connectionId' | 'resource'>,
  { deleted }: WaitingRecord,
): Promise<Applied> {
  const what = 'the service fetches no record of this resource, so';
  if (!deleted)
    return { status: 'ignored', outcome: `${what} the record is left to the next list`, counts: {} };
  await wantReconcile(pool, { connectionId, resource });
  return { status: 'ignored', outcome: `${what} whether it is gone is left to a reconcile`, counts: {} };
}

async function applyGone(
  warehouse: Warehouse,
  where: Announcement,
  { announced, found }: { announced: WaitingRecord; found: RecordGone },
): Promise<Applied> {
  const { id, deleted, deletedAt } = announced;
  if (!deleted) {
    const outcome = 'the service no longer has the record: its deletion is left to who announces it';
    return { status: 'ignored', outcome, counts: {} };
  }
  // A refusal names nobody.
  await where.proof.require(null);
  const version = newerOf(announced.version, found.servedAt?.toISOString() ?? null);
  if (version === null) return { status: 'applied', outcome: 'gone, and never held', counts: {} };
  const { connectionId, resource, runId } = where;
  const buried = await buryAnnounced(warehouse, { connectionId, resource, runId, id, version, deletedAt });
  const outcome = buried.suppressed > 0 ? 'a newer version had arrived' : 'gone at the source too: deleted';
  return { status: 'applied', outcome, counts: buried };
}

/**
 * No version that the service showed before it answered is newer, and a page that shows one may be on its way; a record that was
 * made again afterwards is.
 */
function newerOf(known: string | null, goneBy: string | null): string | null {
  if (known === null || goneBy === null) return known ?? goneBy;
  return (microsecondsOf(known) ?? -Infinity) > (microsecondsOf(goneBy) ?? -Infinity) ? known : goneBy;
}

async function applyFound(
  warehouse: Warehouse,
  where: Announcement,
  { announced, found }: { announced: WaitingRecord; found: FetchedRecord },
): Promise<Applied> {
  const { connectionId, resource, runId, proof } = where;
  const { record, text, connection } = found;
  await proof.require(connection);
  const { counts, refused } = await landFetched(warehouse, {
    ...{ connectionId, resource, runId, token: proof.of.token },
    ...{ record, text, aheadOfList: true },
  });
  if (refused !== undefined) {
    const outcome = 'the record could not be landed and waits in quarantine';
    return { status: 'applied', outcome, counts: { ...counts, read: 1, quarantined: 1 } };
  }
  return { status: 'applied', outcome: inWords(counts, announced), counts: { ...counts, read: 1 } };
}

function inWords({ suppressed, unchanged }: CountsToAdd, { deleted }: WaitingRecord): string {
  if (deleted) return 'not deleted: the service still has the record';
  if (suppressed === 1) return 'a newer version, or the deletion of the record, is known';
  return unchanged === 1 ? 'the record was here already' : 'landed';
}
