import type { CommandInput } from '../../sandbox/world/command.ts';
import type { ResourceName } from '../../sandbox/api/resources.ts';
import {
  bill,
  billCreditMemo,
  expense,
  item,
  subscription,
  type Fields,
} from '../support/finance-records.ts';
import type { RandomBook } from './arbitrary-book.ts';

/** A book of a few documents, with the figures that an accountant expects in its marts. */
export interface WorkedBook {
  readonly book: RandomBook;
  /** Expected values of `mart.column where key = value and …`: one row, or the sum of several. Undefined: there must be no row. */
  readonly figures: Readonly<Record<string, Figure>>;
}

export type Figure = number | string | boolean | null | undefined;

/** Currencies that no generated record of the sandbox has. */
export const workedIn: readonly string[] = ['NZD', 'SGD', 'VND', 'XAU', 'BTC'];

/** The day on which all of them are read. */
export const workedOn = '2026-11-22T12:00:00Z';

export type Values = Readonly<Record<string, unknown>>;

/** The events, by number of months ago. */
export type EventsByMonth = Readonly<Record<number, readonly BookEvent[]>>;

/** Events recorded when this part of a month was over (0: its first second). A month may have several. */
export interface DatedEvents {
  readonly monthsAgo: number;
  readonly at: number;
  readonly events: readonly BookEvent[];
}

export type BookEvent =
  | { readonly resource: ResourceName; readonly record: string }
  | { readonly gone: string }
  | { readonly changed: string; readonly patch: string };

export function worked(
  name: string,
  timeline: EventsByMonth | readonly DatedEvents[],
  figures: WorkedBook['figures'],
  {
    settings = null,
    prunedUntil,
    prunedAgainUntil,
    unread,
    readDaysAgo,
    observedUntil,
    waiting,
    stalled,
    withdrawn,
    ...observed
  }: RandomBook['observed'] & { readonly settings?: RandomBook['settings'] } & Pick<
      RandomBook,
      | 'prunedUntil'
      | 'prunedAgainUntil'
      | 'unread'
      | 'readDaysAgo'
      | 'observedUntil'
      | 'waiting'
      | 'stalled'
      | 'withdrawn'
    > = {},
): WorkedBook {
  const datedEvents = isDated(timeline) ? timeline : toDatedEvents(timeline);
  return {
    figures,
    book: {
      ...{ name, platform: 'QUICKBOOKS', observed, settings, vendorNames: {}, accountNames: {} },
      ...(prunedUntil !== undefined && { prunedUntil }),
      ...(prunedAgainUntil !== undefined && { prunedAgainUntil }),
      ...(unread !== undefined && { unread }),
      ...(readDaysAgo !== undefined && { readDaysAgo }),
      ...(observedUntil !== undefined && { observedUntil }),
      ...(waiting !== undefined && { waiting }),
      ...(stalled !== undefined && { stalled }),
      ...(withdrawn !== undefined && { withdrawn }),
      steps: datedEvents.map(({ monthsAgo, at, events }) => ({
        ...{ monthsAgo, at },
        commands: events.map((event) => toCommand(name, event)),
      })),
    },
  };
}

function isDated(timeline: EventsByMonth | readonly DatedEvents[]): timeline is readonly DatedEvents[] {
  return Array.isArray(timeline);
}

function toDatedEvents(timeline: EventsByMonth): DatedEvents[] {
  return Object.entries(timeline)
    .map(([monthsAgo, events]) => ({ monthsAgo: Number(monthsAgo), at: 0, events }))
    .sort((one, other) => other.monthsAgo - one.monthsAgo);
}

function toCommand(connection: string, event: BookEvent): CommandInput {
  if ('gone' in event) return { kind: 'delete', connection, resource: 'subscriptions', id: event.gone };
  if ('changed' in event) {
    const { changed: id, patch } = event;
    return { kind: 'change', connection, resource: 'subscriptions', id, patch, remove: [] };
  }
  return { kind: 'add', connection, ...event };
}

/** A bill: by default of vendor a, in one of our currencies, fully open, with one line without tax. */
export function addBill(id: string, values: Values): BookEvent {
  const { total_amount: total } = values;
  const record = bill(
    id,
    toFields({
      ...{
        vendor_id: 'a',
        document_number: id,
        due_date: '2026-12-31',
        currency_code: 'NZD',
        currency_rate: null,
      },
      ...{ amount_due: total, sub_total: null, tax_amount: null, line_items: [{ total_amount: total }] },
      ...values,
    }),
  );
  return { resource: 'bills', record };
}

export function addCredit(id: string, values: Values): BookEvent {
  const { total_amount: total } = values;
  const record = billCreditMemo(
    id,
    toFields({
      ...{ vendor_id: 'a', document_number: id, currency_code: 'NZD', remaining_amount: total },
      ...{ linked_bills: [], line_items: [{ total_amount: total }] },
      ...values,
    }),
  );
  return { resource: 'bill_credit_memos', record };
}

export function addExpense(id: string, values: Values): BookEvent {
  return { resource: 'expenses', record: expense(id, toFields({ currency_code: 'NZD', ...values })) };
}

export function addItem(id: string, values: Values): BookEvent {
  return { resource: 'items', record: item(id, toFields(values)) };
}

/** A subscription: by default without a known creation time. */
export function addSubscription(
  id: string,
  customer: string | null,
  amount: number,
  currency = 'NZD',
  values: Values = {},
): BookEvent {
  const items = [monthlyItem(amount)];
  const record = subscription(
    id,
    toFields({
      platform_customer_id: customer,
      iso_currency_code: currency,
      items,
      created_at: null,
      ...values,
    }),
  );
  return { resource: 'subscriptions', record };
}

/** An item of a subscription at this price per month. */
export function monthlyItem(amount: number): Values {
  return { interval: 'month', interval_count: 1, quantity: 1, amount, unit_amount: amount };
}

export function deleteSubscription(id: string): BookEvent {
  return { gone: id };
}

/** Changes a subscription from then on. */
export function changeSubscription(id: string, values: Values): BookEvent {
  return { changed: id, patch: JSON.stringify(values) };
}

function toFields(values: Values): Fields {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)]));
}
