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
export type Chapters = Readonly<Record<number, readonly Deed[]>>;

/** Events recorded when this part of a month was over (0: its first second). A month may have several. */
export interface Moment {
  readonly monthsAgo: number;
  readonly at: number;
  readonly deeds: readonly Deed[];
}

export type Deed =
  | { readonly resource: ResourceName; readonly record: string }
  | { readonly gone: string }
  | { readonly changed: string; readonly patch: string };

export function worked(
  name: string,
  chapters: Chapters | readonly Moment[],
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
  const moments = isMoments(chapters) ? chapters : firstMoments(chapters);
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
      chapters: moments.map(({ monthsAgo, at, deeds }) => ({
        ...{ monthsAgo, at },
        commands: deeds.map((deed) => commandOf(name, deed)),
      })),
    },
  };
}

function isMoments(chapters: Chapters | readonly Moment[]): chapters is readonly Moment[] {
  return Array.isArray(chapters);
}

function firstMoments(chapters: Chapters): Moment[] {
  return Object.entries(chapters)
    .map(([monthsAgo, deeds]) => ({ monthsAgo: Number(monthsAgo), at: 0, deeds }))
    .sort((one, other) => other.monthsAgo - one.monthsAgo);
}

function commandOf(connection: string, deed: Deed): CommandInput {
  if ('gone' in deed) return { kind: 'delete', connection, resource: 'subscriptions', id: deed.gone };
  if ('changed' in deed) {
    const { changed: id, patch } = deed;
    return { kind: 'change', connection, resource: 'subscriptions', id, patch, remove: [] };
  }
  return { kind: 'add', connection, ...deed };
}

/** A bill: by default of vendor a, in one of our currencies, fully open, with one line without tax. */
export function billOf(id: string, values: Values): Deed {
  const { total_amount: total } = values;
  const record = bill(
    id,
    fieldsOf({
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

export function creditOf(id: string, values: Values): Deed {
  const { total_amount: total } = values;
  const record = billCreditMemo(
    id,
    fieldsOf({
      ...{ vendor_id: 'a', document_number: id, currency_code: 'NZD', remaining_amount: total },
      ...{ linked_bills: [], line_items: [{ total_amount: total }] },
      ...values,
    }),
  );
  return { resource: 'bill_credit_memos', record };
}

export function expenseOf(id: string, values: Values): Deed {
  return { resource: 'expenses', record: expense(id, fieldsOf({ currency_code: 'NZD', ...values })) };
}

export function goodOf(id: string, values: Values): Deed {
  return { resource: 'items', record: item(id, fieldsOf(values)) };
}

/** A subscription: by default without a known creation time. */
export function subscriptionOf(
  id: string,
  customer: string | null,
  amount: number,
  currency = 'NZD',
  values: Values = {},
): Deed {
  const items = [itemOf(amount)];
  const record = subscription(
    id,
    fieldsOf({
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
export function itemOf(amount: number): Values {
  return { interval: 'month', interval_count: 1, quantity: 1, amount, unit_amount: amount };
}

export function gone(id: string): Deed {
  return { gone: id };
}

/** Changes a subscription from then on. */
export function changed(id: string, values: Values): Deed {
  return { changed: id, patch: JSON.stringify(values) };
}

function fieldsOf(values: Values): Fields {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, JSON.stringify(value)]));
}
