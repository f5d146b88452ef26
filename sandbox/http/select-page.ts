import { ApiError } from '../api/api-error.ts';
import type { DataRequest } from '../api/data-request.ts';
import type { Collection } from '../world/collection.ts';
import type { Connection } from '../world/connection.ts';
import { comparePlaces, sortPlace } from '../world/stored-record.ts';
import type { Place, StoredRecord } from '../world/stored-record.ts';
import type { Filters } from './filters.ts';
import { syncedSoFar } from './open-connection.ts';
import type { Sort } from './sort.ts';

/**
 * Returns the records of one page, and the place of the record after them. A page begins at its cursor's place in the order,
 * whether or not the cursor's record is still there, so a record that moves ahead of the cursor appears again.
 *
 * @throws ApiError 400 if cursors are only valid while their record stays in place, and it has moved.
 */
export function selectPage(
  request: DataRequest<Connection>,
  collection: Collection,
  query: PageQuery,
): SelectedPage {
  const { sort, filters, limit, from } = query;
  const { field, descending } = sort;
  if (from !== null && request.settings.cursor === 'row') refuseMovedRow(collection, sort, from);
  const range = filters.ranges[field];
  const visible = visibility(request, collection);
  const records: StoredRecord[] = [];
  for (const record of collection.walk({ field, descending, from: firstPlace(query) })) {
    const place = sortPlace(record, field);
    if (isBeyond(place.time, descending ? range.min : range.max, descending)) break;
    if (!filters.matches(record, collection) || !visible(record)) continue;
    if (records.length === limit) return { records, next: place };
    records.push(record);
  }
  return { records, next: null };
}

function refuseMovedRow(collection: Collection, { field }: Sort, from: Place): void {
  const record = collection.get(from.id);
  if (record === null || comparePlaces(sortPlace(record, field), from) !== 0) {
    throw new ApiError(400, 'INVALID_CURSOR', 'The record of the cursor has moved: start without one.');
  }
}

/** Hides records that the service has not read yet or, if lists lag, has read only just now. */
function visibility(
  request: DataRequest<Connection>,
  collection: Collection,
): (record: StoredRecord) => boolean {
  const visibleSize = collection.source.size * syncedSoFar(request.connection, request.now);
  const newest = request.settings.listLagMs === 0 ? Infinity : request.now - request.settings.listLagMs;
  return ({ index, lastSyncedAt }) => (index === null || index < visibleSize) && lastSyncedAt <= newest;
}

/** Returns the cursor, or the start of the filtered range, whichever comes later in the order. */
function firstPlace({ sort, filters, from }: PageQuery): Place | null {
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

interface PageQuery {
  readonly sort: Sort;
  readonly filters: Filters;
  readonly limit: number;
  readonly from: Place | null;
}

interface SelectedPage {
  readonly records: readonly StoredRecord[];
  readonly next: Place | null;
}
