import { inVersion } from '../api/api-version.ts';
import type { DataRequest } from '../api/data-request.ts';
import type { ResourceName } from '../api/resources.ts';
import { unsupported } from '../api/unsupported.ts';
import type { Connection } from '../world/connection.ts';
import { sortPlace } from '../world/stored-record.ts';
import { decodeCursor } from './cursor.ts';
import { readFilters } from './filters.ts';
import { renderConnection } from './open-connection.ts';
import { pageLimit } from './page-limit.ts';
import { renderNextCursor } from './render-next-cursor.ts';
import { selectPage } from './select-page.ts';
import { readSort } from './sort.ts';
import type { Sort } from './sort.ts';

/**
 * Returns one page of a list (4.2 to 4.5), as JSON text. Subscriptions have neither `sort` nor `expand` (2.8).
 *
 * @throws ApiError 404 if the platform has no such list, 400 for wrong parameters.
 */
export function listRecords(request: DataRequest<Connection>, resource: ResourceName): string {
  const { connection, parameters, settings, version } = request;
  if (!connection.platform.lists.includes(resource)) throw unsupported(resource);
  const { listBehindMs, subscriptionsNameConnection } = settings;
  const present = connection.collections[resource];
  const collection = listBehindMs === 0 ? present : present.asOf(Date.now() - listBehindMs);
  const plain = resource === 'subscriptions';
  const sort: Sort = plain ? { field: 'updated_at', descending: true } : readSort(parameters);
  const expanded = !plain && parameters.oneOf('expand', ['platform_data']) !== null;
  const cursor = parameters.text('cursor');

  const { records, next } = selectPage(request, collection, {
    sort,
    filters: readFilters(parameters, resource, connection.platform.filters),
    limit: Math.min(
      pageLimit(parameters, settings, settings.defaultLimit),
      request.atMostRecords ?? Infinity,
    ),
    from: cursor === null ? null : decodeCursor(cursor, settings),
  });
  const texts = records.map((record) => {
    const text = inVersion(version, resource, collection.text(record));
    return expanded ? collection.expanded(record, text) : text;
  });
  const [first] = records;
  const following = request.repeatsCursor && first !== undefined ? sortPlace(first, sort.field) : next;
  const named = !plain || subscriptionsNameConnection ? `"connection":${renderConnection(connection)},` : '';
  return `{${named}"${resource}":[${texts.join(',')}]${renderNextCursor(following, settings)}}`;
}
