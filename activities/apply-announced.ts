import type { PoolClient } from 'pg';
import { microsecondsOf } from '../resources/instant.ts';
import { versionOf } from '../resources/version-of.ts';
import { RecordGone, RequestRefused } from '../source/errors.ts';
import type { FetchedRecord } from '../source/responses.ts';
import { landFetched, type FetchedLanding } from '../warehouse/landing/land-fetched.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { wantReconcile, wantReconcilesWith } from '../warehouse/reconcile/want-reconcile.ts';
import type { BuriedCounts } from '../warehouse/tombstones/apply-tombstones.ts';
import type { RunScope } from '../warehouse/record-scope.ts';
import type { CountsToAdd } from '../warehouse/runs/add-to-run.ts';
import { mayBeHeld } from '../warehouse/webhooks/may-be-held.ts';
import { buryAnnounced } from '../warehouse/webhooks/bury-announced.ts';
import { closeWebhooks, putOffWebhooks } from '../warehouse/webhooks/close-webhooks.ts';
import type { WaitingRecord } from '../warehouse/webhooks/waiting-webhooks.ts';
import type { Asking } from '../requests/ask-for-records.ts';
import type { CompanyProof } from '../requests/company-proof.ts';
import { waitOf } from '../requests/wait.ts';

/** The service's answer for a record that webhooks have named. */
export interface AnnouncedAnswer {
  readonly announced: WaitingRecord;
  readonly found: FetchedRecord | Error | 'unproved';
}

/** Fetches a record. An error is an answer too, so that a failure of one record does not stop the others. */
export async function fetchAnnounced(
  { fetch, proveAbsence }: Asking,
  announced: WaitingRecord,
  signal: AbortSignal,
): Promise<AnnouncedAnswer> {
  try {
    return { announced, found: await fetch(announced.id) };
  } catch (error) {
    if (signal.aborted || !(error instanceof Error)) throw error;
    if (!(error instanceof RecordGone)) return { announced, found: error };
    const absence = await proveAbsence(error, announced.id).catch(asError(signal));
    return { announced, found: absence === 'absent' ? error : absence };
  }
}

/** Whether the answer has a consequence but names no company. A refusal never has one. */
export function isUnnamed({ found }: AnnouncedAnswer): boolean {
  if (found instanceof Error || found === 'unproved') return found instanceof RecordGone;
  return found.connection === null;
}

function asError(signal: AbortSignal): (error: unknown) => Error {
  return (error) => {
    if (signal.aborted || !(error instanceof Error)) throw error;
    return error;
  };
}

/**
 * Acts on the answer, and closes the record's webhooks in the same commit. A record that could not be fetched is postponed behind records
 * with fewer attempts, and the reason is returned as `failure`. A record counts as deleted only if a webhook says so and the service no
 * longer has it; either alone is not enough. Expects that the company was named after an unnamed answer. Throws the errors of the
 * company's proof.
 */
export async function applyAnnounced(
  warehouse: Warehouse,
  where: Announcement,
  { announced, found }: AnnouncedAnswer,
): Promise<{ counts: CountsToAdd; failure?: Error }> {
  const { webhooks } = announced;
  if (found instanceof Error && !isAboutRecord(found)) return putOff(warehouse, announced, found);
  const close = (client: PoolClient, { status, outcome }: Applied): Promise<void> =>
    closeWebhooks(client, { webhooks, status, outcome, runId: where.runId });
  return { counts: (await settleAnnounced(warehouse, { ...where, close }, { announced, found })).counts };
}

/** Postpones a record whose answer is missing, or cannot be used. */
export async function putOff(
  warehouse: Warehouse,
  { webhooks }: WaitingRecord,
  failure: Error,
): Promise<{ counts: CountsToAdd; failure: Error }> {
  await putOffWebhooks(warehouse, { webhooks, milliseconds: waitOf(failure)?.milliseconds ?? 0 });
  return { counts: {}, failure };
}

/** Other errors are no answer about the record: it may be fetched later. */
function isAboutRecord(error: Error): error is RecordGone | RequestRefused {
  return error instanceof RecordGone || error instanceof RequestRefused;
}

async function settleAnnounced(
  warehouse: Warehouse,
  where: ToClose,
  {
    announced,
    found,
  }: { announced: WaitingRecord; found: FetchedRecord | 'unproved' | RecordGone | RequestRefused },
): Promise<Applied> {
  if (found instanceof RecordGone && announced.deleted) return bury(warehouse, where, { announced, found });
  if (found instanceof RecordGone)
    return closeWithoutRecord(warehouse, where, await leaveInDoubt(warehouse, where, announced));
  if (found === 'unproved' || found instanceof RequestRefused)
    return closeWithoutRecord(warehouse, where, leaveToReconcile({ announced, found }));
  return applyFound(warehouse, where, { announced, found });
}

interface Announcement extends RunScope {
  readonly proof: CompanyProof;
  /** How far before its watermark a sync of the resource begins. */
  readonly lookbackMilliseconds: number;
}

interface ToClose extends Announcement {
  readonly close: (client: PoolClient, applied: Applied) => Promise<void>;
}

interface Applied {
  status: 'applied' | 'ignored';
  outcome: string;
  counts: CountsToAdd;
  wantsReconcile?: boolean;
}

/** A change arrives with the next list. Only a complete listing shows a deletion, so that is left to a reconcile. */
function leaveToReconcile({
  announced: { deleted },
  found,
}: {
  announced: WaitingRecord;
  found: 'unproved' | RequestRefused;
}): Applied {
  const what =
    found === 'unproved'
      ? 'the service fetches no record of this resource, so'
      : 'the service refuses to return the record, so';
  if (!deleted)
    return { status: 'ignored', outcome: `${what} the record is left to the next list`, counts: {} };
  const outcome = `${what} whether it is gone is left to a reconcile`;
  return { status: 'ignored', outcome, counts: {}, wantsReconcile: true };
}

async function closeWithoutRecord({ pool }: Warehouse, where: ToClose, applied: Applied): Promise<Applied> {
  const wanted = applied.wantsReconcile === true ? [where] : [];
  await wantReconcilesWith(pool, wanted, (client) => where.close(client, applied));
  return applied;
}

/** The deletion may never be announced: a webhook can be lost, and most platforms have no events. */
async function leaveInDoubt(
  warehouse: Warehouse,
  where: Announcement,
  { id }: WaitingRecord,
): Promise<Applied> {
  const wantsReconcile = await mayBeHeld(warehouse, { ...where, id });
  const outcome = 'the service no longer has the record: its deletion is left to who announces it';
  return { status: 'ignored', outcome, counts: {}, wantsReconcile };
}

async function bury(
  warehouse: Warehouse,
  where: ToClose,
  { announced, found }: { announced: WaitingRecord; found: RecordGone },
): Promise<Applied> {
  const { id, deletedAt } = announced;
  const version = newerTime(announced.version, found.servedAt?.toISOString() ?? null);
  if (version === null)
    return closeWithoutRecord(warehouse, where, {
      status: 'applied',
      outcome: 'gone, and never held',
      counts: {},
    });
  const { connectionId, resource, runId, close } = where;
  const buried = await buryAnnounced(
    warehouse,
    { connectionId, resource, runId, id, version, deletedAt },
    (client, done) => close(client, buriedInWords(done)),
  );
  return buriedInWords(buried);
}

function buriedInWords({ deleted, suppressed, doubted }: BuriedCounts): Applied {
  const counts = { deleted, suppressed: suppressed + doubted };
  if (doubted > 0) return { status: 'ignored', outcome: touchedThen, counts };
  const outcome = suppressed > 0 ? 'a newer version had arrived' : 'gone at the source too: deleted';
  return { status: 'applied', outcome, counts };
}

const touchedThen =
  'it was touched in the very second of its deletion, so whether it is gone is left to a reconcile';

/**
 * The newer of the webhook's version and the time of the 404. Pages read before the 404 show no newer version; a record created again
 * afterwards is newer.
 */
function newerTime(known: string | null, goneBy: string | null): string | null {
  if (known === null || goneBy === null) return known ?? goneBy;
  return (microsecondsOf(known) ?? -Infinity) > (microsecondsOf(goneBy) ?? -Infinity) ? known : goneBy;
}

async function applyFound(
  warehouse: Warehouse,
  where: ToClose,
  { announced, found }: { announced: WaitingRecord; found: FetchedRecord },
): Promise<Applied> {
  const { connectionId, resource, runId, proof, lookbackMilliseconds, close } = where;
  const { record, connection, servedAt } = found;
  await proof.require(connection);
  // Announced before the deletion, or the server that answered lags behind. A record created again is newer.
  const told = microsecondsOf(announced.deletedVersion ?? '') ?? Infinity;
  const isEarly = announced.deleted && (versionOf(record.value, resource) ?? -Infinity) <= told;
  const landing = await landFetched(
    warehouse,
    {
      connectionId,
      resource,
      runId,
      token: proof.of.token,
      record,
      servedAt,
      aheadOfList: true,
      lookbackMilliseconds,
    },
    async (client, done) => {
      if (isEarly) await wantReconcile(client, where);
      await close(client, landedInWords(done, announced));
    },
  );
  return landedInWords(landing, announced);
}

function landedInWords({ counts, refused }: FetchedLanding, announced: WaitingRecord): Applied {
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
