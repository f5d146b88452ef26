import * as z from 'zod';
import { minorUnits } from './minor-units.ts';

/** A decimal as Postgres writes it. It stays a string, so that every digit is shown. */
export const amount: z.ZodType<Decimal> = z.custom<Decimal>(
  (value) => typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value),
);

export type Decimal = `${number}`;

/**
 * Formats an amount with thousands separators and at least the currency's own decimals: 1,936,399 JPY, 22,019.748 KWD. Intl reads decimals
 * from strings, and is exact. Null is not zero: it is an amount that depends on an unknown one.
 */
export function shownAmount(value: Decimal | null, currency: string): string {
  return value === null ? 'not known' : numberFormat(currency).format(value);
}

/** Returns the label of a bar; null for an unknown amount, which has no bar. */
export function drawnAmount(value: Decimal | null, currency: string): string | null {
  return value === null ? null : shownAmount(value, currency);
}

/** Returns the amount for a sentence, with its currency. */
export function namedAmount(value: Decimal | null, currency: string): string {
  if (value === null) return `an unknown amount${currency === '' ? '' : ` of ${currency}`}`;
  return `${currency === '' ? '' : `${currency} `}${shownAmount(value, currency)}`;
}

/** Returns the amount for a sentence that has already named the currency. */
export function toldAmount(value: Decimal | null, currency: string): string {
  return value === null ? 'an unknown amount' : shownAmount(value, currency);
}

/** Negates an amount: money owed back is below 0 in marts, and above 0 in a sentence about it. */
export function negated(value: Decimal | null): Decimal | null {
  if (value === null || isZero(value)) return value;
  return (value.startsWith('-') ? value.slice(1) : `-${value}`) as Decimal;
}

export function isZero(value: Decimal): boolean {
  return !/[1-9]/.test(value);
}

const formats = new Map<string, Intl.NumberFormat>();

function numberFormat(currency: string): Intl.NumberFormat {
  const known = formats.get(currency);
  if (known !== undefined) return known;
  const format = new Intl.NumberFormat('en-US', {
    minimumFractionDigits: minorUnits(currency),
    maximumFractionDigits: marts,
  });
  formats.set(currency, format);
  return format;
}

/** The number of decimals of amounts in the marts. */
const marts = 9;
