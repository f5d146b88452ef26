import type { Collection } from '../world/collection.ts';
import type { ResourceName } from '../world/resources.ts';
import { comparePlaces, placeOf } from '../world/stored-record.ts';
import type { Place, StoredRecord } from '../world/stored-record.ts';
import { inVersion } from './api-version.ts';
import { ApiError } from './api-error.ts';
import { decodeCursor } from './cursor.ts';
import type { DataRequest } from './data-request.ts';
import { readFilters } from './filters.ts';
import type { Filters } from './filters.ts';
import { renderConnection, syncedSoFar } from './open-connection.ts';
import { pageLimit } from './page-limit.ts';
import { renderNextCursor } from './render-next-cursor.ts';
import { readSort } from './sort.ts';
import type { Sort } from './sort.ts';

/**
 * One page of a list (4.2 to 4.5), as JSON text.
 *
 * @throws ApiError 404 when the platform has no such list, 400 for wrong parameters.
 */
export function listRecords(request: DataRequest, resource: ResourceName): string {
  const { connection, parameters, settings, version } = request;
  if (!connection.platform.lists.includes(resource)) throw unsupported(resource);
  const collection = connection.collections[resource];
  const isSubscription = resource === 'subscriptions';
  const sort: Sort = isSubscription ? { field: 'updated_at', descending: true } : readSort(parameters);
  const expanded = !isSubscription && parameters.oneOf('expand', ['platform_data']) !== null;
  const filters = readFilters(parameters, resource, connection.platform.filters);
  const limit = Math.min(
    pageLimit(parameters, settings, settings.defaultLimit),
    request.atMostRecords ?? Infinity,
  );
  const cursor = parameters.text('cursor');
  const from = cursor === null ? null : decodeCursor(cursor);
  if (from !== null && settings.cursor === 'row') refuseMovedRow(collection, sort, from);

  const { records, next } = page(request, collection, { sort, filters, limit, from });
  const texts = records.map((record) => {
    const text = inVersion(version, resource, collection.text(record));
    return expanded ? `${text.slice(0, -1)},"platform_data":${collection.platformData(record)}}` : text;
  });
  const first = records[0];
  const repeated = request.repeatsCursor && first !== undefined ? placeOf(first, sort.field) : next;
  return `{"connection":${renderConnection(connection)},"${resource}":[${texts.join(',')}]${renderNextCursor(repeated, settings)}}`;
}

export function unsupported(resource: string): ApiError {
  return new ApiError(404, 'NOT_SUPPORTED', `The platform of this connection does not support ${resource}.`);
}

/** The records of a page and the place of the one after them. */
function page(
  request: DataRequest,
  collection: Collection,
  query: PageQuery,
): { records: StoredRecord[]; next: Place | null } {
  const { field, descending } = query.sort;
  const range = query.filters.ranges[field];
  const visible = visibility(request, collection);
  const records: StoredRecord[] = [];
  for (const record of collection.walk(field, descending, startOf(query))) {
    const place = placeOf(record, field);
    if (isBeyond(place.time, descending ? range.min : range.max, descending)) break;
    if (!query.filters.matches(record, collection) || !visible(record)) continue;
    if (records.length === query.limit) return { records, next: place };
    records.push(record);
  }
  return { records, next: null };
}

/** The cursor, or the end of the filtered range where the order begins, whichever comes later in the order. */
function startOf({ sort, filters, from }: PageQuery): Place | null {
  const range = filters.ranges[sort.field];
  const edge = sort.descending ? range.max : range.min;
  if (!Number.isFinite(edge)) return from;
  const start = { time: edge, id: sort.descending ? '\uffff' : '' };
  if (from === null) return start;
  const direction = sort.descending ? -1 : 1;
  return direction * comparePlaces(from, start) > 0 ? from : start;
}

function isBeyond(time: number | null, end: number, descending: boolean): boolean {
  if (!Number.isFinite(end)) return false;
  return descending ? (time ?? -Infinity) < end : (time ?? -Infinity) > end;
}

/** Hides what the service has not read yet or, when lists lag, has read only now. */
function visibility(request: DataRequest, collection: Collection): (record: StoredRecord) => boolean {
  const visibleSize = collection.source.size * syncedSoFar(request.connection, request.now);
  const newest = request.settings.listLagMs === 0 ? Infinity : request.now - request.settings.listLagMs;
  return ({ index, lastSyncedAt }) => (index ?? 0) < visibleSize && lastSyncedAt <= newest;
}

function refuseMovedRow(collection: Collection, { field }: Sort, from: Place): void {
  const record = collection.get(from.id);
  if (record === null || comparePlaces(placeOf(record, field), from) !== 0) {
    throw new ApiError(400, 'INVALID_CURSOR', 'The record of the cursor has moved: start without one.');
  }
}

interface PageQuery {
  readonly sort: Sort;
  readonly filters: Filters;
  readonly limit: number;
  readonly from: Place | null;
}
