import { ApiError } from '../api/api-error.ts';
import type { DataRequest } from '../api/data-request.ts';
import type { Connection } from '../world/connection.ts';
import type { DeletionEvent } from '../world/deletion-event.ts';
import { comparePlaces } from '../world/stored-record.ts';
import type { Place } from '../world/stored-record.ts';
import { decodeCursor } from './cursor.ts';
import { pageLimit } from './page-limit.ts';
import { renderNextCursor } from './render-next-cursor.ts';

/**
 * One page of deletion events (4.6), newest first like every list without a sort; empty on platforms without deletion
 * detection.
 *
 * @throws ApiError 400
 */
export function listEvents(request: DataRequest<Connection>): string {
  const { connection, parameters, settings } = request;
  if (parameters.oneOf('type', ['object_deleted']) === null) {
    throw new ApiError(400, 'INVALID_PARAMETER', 'The parameter type is required: object_deleted.');
  }
  const limit = Math.min(pageLimit(parameters, settings, 500), request.atMostRecords ?? Infinity);
  const min = parameters.integer('last_synced_at_min') ?? -Infinity;
  const named = parameters.text('resources')?.split(',');
  const cursor = parameters.text('cursor');
  const from = cursor === null ? null : decodeCursor(cursor, settings);

  const matching = connection.events
    .filter(({ at, resource }) => at >= min && (named === undefined || named.includes(resource)))
    .filter((event) => from === null || comparePlaces(eventPlace(event), from) <= 0)
    .sort((left, right) => comparePlaces(eventPlace(right), eventPlace(left)));
  const events = matching.slice(0, limit);
  const following = request.repeatsCursor ? events[0] : matching[limit];
  const next = following === undefined ? null : eventPlace(following);
  return `{"events":[${events.map(renderEvent).join(',')}]${renderNextCursor(next, settings)}}`;
}

function eventPlace({ at, id }: DeletionEvent): Place {
  return { time: at, id };
}

function renderEvent({ id, resource, recordId, at }: DeletionEvent): string {
  const time = new Date(at).toISOString();
  return JSON.stringify({
    id,
    data: { id: recordId, deleted_at: time },
    resource,
    type: 'object_deleted',
    last_synced_at: time,
  });
}
