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
  /** As the service has it now. */
  readonly fetch: (id: string) => Promise<FetchedRecord>;
  readonly proveAbsence: ProveAbsence;
  /** Ends what is asked of the service. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Lands one record of the quarantine the way that any record takes, and closes its entry unless the record is still bad: then
 * the entry stays open with the reason of now. What is beaten by a newer version or a deletion is closed too, for nothing is
 * missing. Of a record that the service no longer has only the entry is closed: the deletion is the reconcile's business.
 * An entry that meanwhile was given another version stays open. Returns what its commit has counted in the run.
 */
export async function replayEntry(warehouse: Warehouse, replay: EntryToReplay): Promise<CountsToAdd> {
  const { entry, resource, runId } = replay;
  const kept = await readQuarantineEntry(warehouse, entry.id);
  if (kept?.status !== 'open') return {};
  const where = { connectionId: entry.connection_id, resource, runId, stream: entry.stream };
  const found = await findRecordToReplay(kept, replay);
  if (found === undefined) {
    // With its entry goes the last that tells of it.
    const record = { connectionId: entry.connection_id, resource, id: kept.record_id ?? '' };
    const wanted = (await readHeld(warehouse.pool, record)) === null ? [] : [record];
    // Counted, so that the run notices at its end when this commit is lost.
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
    // Landing closes entries by the record's id; one that had none is closed here.
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
  /** Mark of the access token that it was fetched with, and the service's time; null for what was kept. */
  token: string | null;
  servedAt: Date | null;
}

/** As the service has it now; where it cannot be fetched, as it was kept. Undefined when it is gone. */
async function findRecordToReplay(
  { record_id: id, payload }: { record_id: string | null; payload: string },
  { resource, proof, fetch, proveAbsence, signal }: EntryToReplay,
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
  }, signal);
}
