import type { Resource } from '../resources/resource.ts';
import type { ApiClient } from '../source/api-client.ts';
import { RecordGone } from '../source/errors.ts';
import { readPages } from '../source/read-pages.ts';
import type { CompanyProof } from './company-proof.ts';
import { patiently } from './patiently.ts';

/** What is erased here would come back with the next sync. */
export class StillReturned extends Error {
  override readonly name = 'StillReturned';
  readonly handling = 'stop';

  constructor({ connectionId, resource, id }: { connectionId: string; resource: Resource; id: string }) {
    super(
      `The source still returns ${id} of ${resource.name} for ${connectionId}, so nothing was erased: delete it there first.`,
    );
  }
}

/**
 * Makes sure that the service no longer has a record. That it lists the others for the right company comes first: an address that
 * answers 404 to everything knows nothing of records. Throws StillReturned, IdentityChanged, and what the service says.
 */
export async function confirmGone(
  { api, proof }: { api: ApiClient; proof: CompanyProof },
  asked: { connectionId: string; resource: Resource; id: string; accessToken: string },
): Promise<void> {
  const { resource, id, accessToken } = asked;
  const isIt = (record: unknown): boolean =>
    typeof record === 'object' && record !== null && 'id' in record && record.id === id;
  for (const { query } of resource.streams) {
    const reading = { accessToken, path: resource.listPath, query, plural: resource.name, cursor: null };
    for await (const { connection, records } of readPages(api, reading, (page) => page)) {
      await proof.require(connection);
      if (records.some(isIt)) throw new StillReturned(asked);
      // The rest is listed only where a record cannot be asked for.
      if (resource.fetchable) break;
    }
  }
  if (resource.fetchable && (await isFetched(api, asked))) throw new StillReturned(asked);
}

async function isFetched(
  api: ApiClient,
  { resource, id, accessToken }: { resource: Resource; id: string; accessToken: string },
): Promise<boolean> {
  const { listPath: path, singular } = resource;
  try {
    await patiently(() => api.fetch({ accessToken, path, id, singular }));
    return true;
  } catch (error) {
    if (error instanceof RecordGone) return false;
    throw error;
  }
}
