import type { Resource } from '../resources/resource.ts';
import { RecordGone } from '../source/errors.ts';
import { landFetched } from '../warehouse/landing/land-fetched.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { closeEntries } from '../warehouse/quarantine/close-entries.ts';
import { readQuarantineEntry, type QuarantineEntry } from '../warehouse/quarantine/read-quarantine.ts';
import type { CountsToAdd } from '../warehouse/runs/add-to-run.ts';
import type { CompanyProof } from './company-proof.ts';
import type { Dependencies } from './dependencies.ts';
import { patiently } from './patiently.ts';

export interface EntryToReplay {
  readonly entry: QuarantineEntry;
  readonly resource: Resource;
  readonly runId: string;
  readonly proof: CompanyProof;
  readonly accessToken: string;
}

/**
 * Lands one record of the quarantine the way that any record takes, and closes its entry unless the record is still bad: then
 * the entry stays open with the reason of now. What is beaten by a newer version or a deletion is closed too, for nothing is
 * missing. Of a record that the service no longer has only the entry is closed: the deletion is the reconcile's business.
 */
export async function replayEntry(
  { warehouse, api }: Pick<Dependencies, 'warehouse' | 'api'>,
  replay: EntryToReplay,
): Promise<CountsToAdd> {
  const { entry, resource, runId } = replay;
  const close = (status: 'landed' | 'discarded', why: string): Promise<void> =>
    closeEntries(warehouse, { ids: [entry.id], status, why });
  const found = await recordOf({ warehouse, api }, replay);
  if (found === undefined) {
    await close('discarded', 'deleted at the source');
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
  record: unknown;
  text: string;
  /** Mark of the access token that it was fetched with; null for what was kept. */
  token: string | null;
}

/** As the service has it now; where it cannot be fetched, as it was kept. Undefined when the service says that it is gone. */
async function recordOf(
  { warehouse, api }: { warehouse: Warehouse; api: Dependencies['api'] },
  { entry, resource, proof, accessToken }: EntryToReplay,
): Promise<FoundRecord | undefined> {
  const { listPath: path, singular } = resource;
  const { record_id: id } = entry;
  if (!resource.fetchable || id === null) {
    const kept = await readQuarantineEntry(warehouse, entry.id);
    return kept && { record: JSON.parse(kept.payload) as unknown, text: kept.payload, token: null };
  }
  try {
    const { record, text, connection } = await patiently(() =>
      api.fetch({ accessToken, path, id, singular }),
    );
    await proof.require(connection);
    return { record, text, token: proof.of.token };
  } catch (error) {
    if (!(error instanceof RecordGone)) throw error;
    // A refusal names nobody.
    await proof.require(null);
    return undefined;
  }
}
