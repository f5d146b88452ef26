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
 * Returns one page of deletion events (4.6), newest first like every list without a sort; empty on platforms without deletion
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
  const named = parameters.someOf('resources', eventResources);
  parameters.oneOf('expand', ['platform_data']);
  const cursor = parameters.text('cursor');
  const from = cursor === null ? null : decodeCursor(cursor, settings);

  const matching = connection.events
    .filter(({ at, resource }) => at >= min && (named === null || named.includes(resource)))
    .filter((event) => from === null || comparePlaces(eventPlace(event), from) <= 0)
    .sort((left, right) => comparePlaces(eventPlace(right), eventPlace(left)));
  const events = matching.slice(0, limit);
  const following = request.repeatsCursor ? events[0] : matching[limit];
  const next = following === undefined ? null : eventPlace(following);
  return `{"events":[${events.map(renderEvent).join(',')}]${renderNextCursor(next, settings)}}`;
}

/** Section 4.6. Here, only some of these have deletions. */
const eventResources: readonly string[] = [
  'ACCOUNT',
  'BANK_DEPOSIT',
  'BANK_TRANSFER',
  'CLASS',
  'COMPANY_INFO',
  'CURRENCIES',
  'DEPARTMENT',
  'ITEMS',
  'JOURNAL_ENTRY',
  'LOCATION',
  'PAYMENT_TERM',
  'SUBSIDIARY',
  'TAX_RATES',
  'ACCOUNTING_CUSTOMER',
  'INVOICE',
  'INVOICE_CREDIT_MEMO',
  'INVOICE_PAYMENT',
  'PAYMENT_METHOD',
  'SALES_ORDER',
  'BILL',
  'BILL_CREDIT_MEMO',
  'BILL_PAYMENT',
  'PURCHASE_ORDER',
  'VENDOR',
  'EXPENSE',
  'BANK_FEED_ACCOUNT',
  'BANK_FEED_TRANSACTION',
  'BALANCE_SHEET',
  'CASH_FLOW',
  'INCOME_STATEMENT',
];

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
