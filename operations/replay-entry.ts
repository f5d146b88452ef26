import type { Resource } from '../resources/resource.ts';
import { sourceRecord, type SourceRecord } from '../resources/source-record.ts';
import { RecordGone } from '../source/errors.ts';
import type { FetchedRecord } from '../source/responses.ts';
import { readHeld } from '../warehouse/landing/read-held.ts';
import { landFetched } from '../warehouse/landing/land-fetched.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { closeEntry } from '../warehouse/quarantine/close-entry.ts';
import { deletedAtSource } from '../warehouse/quarantine/deleted-at-source.ts';
import { readQuarantineEntry, type QuarantineEntry } from '../warehouse/quarantine/read-quarantine.ts';
import { wantReconcilesWith } from '../warehouse/reconcile/want-reconcile.ts';
import { addToRun, type CountsToAdd } from '../warehouse/runs/add-to-run.ts';
import type { CompanyProof } from '../requests/company-proof.ts';
import type { ProveAbsence } from '../requests/prove-absence.ts';
import { retryWithDeadline } from '../requests/retry-with-deadline.ts';

export interface EntryToReplay {
  readonly entry: QuarantineEntry;
  readonly resource: Resource;
  readonly runId: string;
  readonly proof: CompanyProof;
  /** Fetches the record's current version from the service. */
  readonly fetch: (id: string) => Promise<FetchedRecord>;
  readonly proveAbsence: ProveAbsence;
  /** Aborts requests to the service. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Lands one quarantined record like any other record, and closes its entry unless the record is still bad: then the entry stays open with the
 * new reason. If a newer version or a deletion supersedes it, the entry is closed too, because nothing is missing. If the service no longer has
 * the record, only the entry is closed: the deletion is left to the reconcile. An entry that meanwhile got another version stays open. Returns
 * the counts that its commit has added to the run.
 */
export async function replayEntry(warehouse: Warehouse, replay: EntryToReplay): Promise<CountsToAdd> {
  const { entry, resource, runId } = replay;
  const kept = await readQuarantineEntry(warehouse, entry.id);
  if (kept?.status !== 'open') return {};
  const where = { connectionId: entry.connection_id, resource, runId, stream: entry.stream };
  const found = await findRecordToReplay(kept, replay);
  if (found === undefined) {
    // Closing its entry removes the last trace of the record.
    const record = { connectionId: entry.connection_id, resource, id: kept.record_id ?? '' };
    const wanted = (await readHeld(warehouse.pool, record)) === null ? [] : [record];
    // Counted, so that the run notices at its end if this commit is lost.
    const counts = { suppressed: 1 };
    await wantReconcilesWith(warehouse.pool, wanted, async (client) => {
      await closeEntry(client, { ...kept, status: 'discarded', why: deletedAtSource });
      await addToRun(client, { ...where, counts });
    });
    return counts;
  }
  let counted: CountsToAdd = {};
  await landFetched(warehouse, { ...where, ...found }, async (client, { counts, refused }) => {
    counted = { ...counts, read: 1, ...(refused === undefined ? {} : { quarantined: 1 }) };
    await addToRun(client, { ...where, counts: counted });
    if (refused !== undefined) return;
    // Landing closes entries by the record's id; an entry without one is closed here.
    await closeEntry(
      client,
      counts.suppressed === 0
        ? { ...kept, status: 'landed', why: 'a good version arrived' }
        : {
            ...kept,
            status: 'discarded',
            why: 'a newer version, or the deletion of the record, is known already',
          },
    );
  });
  return counted;
}

interface FoundRecord {
  record: SourceRecord;
  /** The mark of the access token used to fetch it, and the service's time; null for a kept payload. */
  token: string | null;
  servedAt: Date | null;
}

/** Returns the service's current version, or the kept payload if it cannot be fetched. Undefined if the record is gone. */
async function findRecordToReplay(
  { record_id: id, payload }: { record_id: string | null; payload: string },
  { resource, proof, fetch, proveAbsence, signal }: EntryToReplay,
): Promise<FoundRecord | undefined> {
  const asKept = (): FoundRecord => ({ record: sourceRecord(payload), token: null, servedAt: null });
  if (!resource.fetchable || id === null) return asKept();
  // Retries if the record is returned once and then missing.
  return retryWithDeadline(async () => {
    try {
      const { record, connection, servedAt } = await fetch(id);
      await proof.requireNow(connection);
      return { record, token: proof.of.token, servedAt };
    } catch (error) {
      if (!(error instanceof RecordGone)) throw error;
      const absence = await proveAbsence(error, id);
      // A refusal names no company.
      await proof.requireNow(null);
      return absence === 'absent' ? undefined : asKept();
    }
  }, signal);
}
