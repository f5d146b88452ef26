import type { Resource } from '../resources/resource.ts';
import { sourceRecord, type SourceRecord } from '../resources/source-record.ts';
import { RecordGone } from '../source/errors.ts';
import type { FetchedRecord } from '../source/responses.ts';
import { readHeld } from '../warehouse/erase/read-held.ts';
import { landFetched } from '../warehouse/landing/land-fetched.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { closeEntry } from '../warehouse/quarantine/close-entry.ts';
import { deletedAtSource } from '../warehouse/quarantine/deleted-at-source.ts';
import { readQuarantineEntry, type QuarantineEntry } from '../warehouse/quarantine/read-quarantine.ts';
import { wantReconcile } from '../warehouse/reconcile/want-reconcile.ts';
import type { CountsToAdd } from '../warehouse/runs/add-to-run.ts';
import type { CompanyProof } from '../activities/company-proof.ts';
import type { ProveAbsence } from '../activities/prove-absence.ts';
import { retryWithDeadline } from '../activities/retry-with-deadline.ts';

export interface EntryToReplay {
  readonly entry: QuarantineEntry;
  readonly resource: Resource;
  readonly runId: string;
  readonly proof: CompanyProof;
  /** As the service has it now. */
  readonly fetch: (id: string) => Promise<FetchedRecord>;
  readonly proveAbsence: ProveAbsence;
}

/**
 * Lands one record of the quarantine the way that any record takes, and closes its entry unless the record is still bad: then
 * the entry stays open with the reason of now. What is beaten by a newer version or a deletion is closed too, for nothing is
 * missing. Of a record that the service no longer has only the entry is closed: the deletion is the reconcile's business.
 * An entry that meanwhile was given another version stays open.
 */
export async function replayEntry(warehouse: Warehouse, replay: EntryToReplay): Promise<CountsToAdd> {
  const { entry, resource, runId } = replay;
  const kept = await readQuarantineEntry(warehouse, entry.id);
  if (kept?.status !== 'open') return {};
  const close = (status: 'landed' | 'discarded', why: string): Promise<void> =>
    closeEntry(warehouse, { ...kept, status, why });
  const found = await recordOf(kept, replay);
  if (found === undefined) {
    // With its entry goes the last that tells of it.
    const record = { connectionId: entry.connection_id, resource, id: kept.record_id ?? '' };
    if ((await readHeld(warehouse.pool, record)) !== null) await wantReconcile(warehouse.pool, record);
    await close('discarded', deletedAtSource);
    return {};
  }
  const where = { connectionId: entry.connection_id, resource, runId, stream: entry.stream };
  const { counts, refused } = await landFetched(warehouse, { ...where, ...found });
  if (refused !== undefined) return { ...counts, read: 1, quarantined: 1 };
  // Landing closes entries by the record's id; one that had none is closed here.
  if (counts.suppressed === 0) await close('landed', 'a good version arrived');
  else await close('discarded', 'a newer version, or the deletion of the record, is known already');
  return { ...counts, read: 1 };
}

interface FoundRecord {
  record: SourceRecord;
  /** Mark of the access token that it was fetched with, and the service's time; null for what was kept. */
  token: string | null;
  servedAt: Date | null;
}

/** As the service has it now; where it cannot be fetched, as it was kept. Undefined when it is gone. */
async function recordOf(
  { record_id: id, payload }: { record_id: string | null; payload: string },
  { resource, proof, fetch, proveAbsence }: EntryToReplay,
): Promise<FoundRecord | undefined> {
  const asKept = (): FoundRecord => ({ record: sourceRecord(payload), token: null, servedAt: null });
  if (!resource.fetchable || id === null) return asKept();
  // One that is there, and then not, is asked for again.
  return retryWithDeadline(async () => {
    try {
      const { record, connection, servedAt } = await fetch(id);
      await proof.requireNow(connection);
      return { record, token: proof.of.token, servedAt };
    } catch (error) {
      if (!(error instanceof RecordGone)) throw error;
      const absence = await proveAbsence(error, id);
      // A refusal names nobody.
      await proof.requireNow(null);
      return absence === 'absent' ? undefined : asKept();
    }
  });
}
