import { ApiError } from '../api/api-error.ts';
import { inVersion } from '../api/api-version.ts';
import type { DataRequest } from '../api/data-request.ts';
import { resources } from '../api/resources.ts';
import type { ResourceName } from '../api/resources.ts';
import { unsupported } from '../api/unsupported.ts';
import type { Collection } from '../world/collection.ts';
import type { Connection } from '../world/connection.ts';
import type { StoredRecord } from '../world/stored-record.ts';
import { renderConnection, syncedSoFar } from './open-connection.ts';

/**
 * Returns one record by ID (4.2 to 4.5), as JSON text. Subscriptions cannot be fetched, and credit memos not by platform ID.
 *
 * @throws ApiError 404 if the platform does not support it, 410 if there is no such record.
 */
export function fetchRecord(request: DataRequest<Connection>, resource: ResourceName, id: string): string {
  const { connection, parameters, settings, version } = request;
  if (!connection.platform.lists.includes(resource)) throw unsupported(resource);
  const collection = connection.collections[resource];
  const byPlatformId =
    resource !== 'bill_credit_memos' && parameters.oneOf('id_type', ['rutter', 'platform']) === 'platform';
  if (byPlatformId && !connection.platform.platformIds) throw unsupported('id_type=platform');
  const record = byPlatformId ? collection.getByPlatformId(id) : collection.get(id);
  if (record === null || !isSynced(request, collection, record)) {
    throw new ApiError(
      settings.missingRecordStatus,
      'NOT_FOUND',
      `There is no ${resources[resource].singular} with this ID.`,
    );
  }
  const text = inVersion(version, resource, collection.text(record));
  return `{"connection":${renderConnection(connection)},"${resources[resource].singular}":${text}}`;
}

function isSynced(
  { connection, now }: DataRequest<Connection>,
  collection: Collection,
  { index }: StoredRecord,
): boolean {
  return index === null || index < collection.source.size * syncedSoFar(connection, now);
}
