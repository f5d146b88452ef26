import type { Resource } from '../resources/resource.ts';
import type { ApiClient } from '../source/api-client.ts';
import type { FetchedRecord } from '../source/responses.ts';
import { createAbsenceProof, type ProveAbsence } from './prove-absence.ts';

/** Requests for single records of one resource. */
export interface Asking {
  /** Fetches one record by its id; rejects as `ApiClient.fetch` does. */
  readonly fetch: (id: string) => Promise<FetchedRecord>;
  /** Decides what a RecordGone of `fetch` proves about the record. */
  readonly proveAbsence: ProveAbsence;
}

export function askForRecords({
  api,
  resource,
  accessToken,
  readAlive,
  signal,
}: {
  api: Pick<ApiClient, 'fetch'>;
  resource: Resource;
  accessToken: string;
  /** Ids of some records that are known to exist. */
  readAlive: () => Promise<readonly string[]>;
  signal?: AbortSignal | undefined;
}): Asking {
  const fetch = (id: string): Promise<FetchedRecord> => api.fetch({ accessToken, resource, id, signal });
  const proveAbsence = createAbsenceProof({ fetch, readAlive });
  return {
    fetch,
    proveAbsence: async (gone, id) => (isAsItCame(id) ? proveAbsence(gone, id) : 'unproved'),
  };
}

/** Postgres cannot store U+0000, so it lands as U+FFFD: an id that may have had one cannot be fetched. */
function isAsItCame(id: string): boolean {
  return !id.includes('\uFFFD');
}
