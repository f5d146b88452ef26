import { isoTime } from './calendar.ts';
import { formatAmount } from './currencies.ts';
import type { Currency } from './currencies.ts';

/** Returns the JSON text of an allocation entry (2.1): the part of one document that settles another. */
export function renderAllocation(linkedId: string, at: number, amount: number, currency: Currency): string {
  const money = formatAmount(amount, currency.digits);
  return `{"id":"${linkedId}","allocated_date":"${isoTime(at)}","allocated_amount":${money}}`;
}
