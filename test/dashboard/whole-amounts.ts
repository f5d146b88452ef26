import type { Value } from '../books/calculate.ts';

/** An amount in billionths, never converted to a double. Null: not known. */
export type Whole = bigint | null;

const places = 9;

export function whole(value: Value): Whole {
  if (value === null || value === undefined) return null;
  const [, sign = '', before = '', after = ''] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(String(value)) ?? [];
  if (before === '' || after.length > places) throw new Error(`${String(value)} is no amount of a mart.`);
  return BigInt(`${sign}${before}${after.padEnd(places, '0')}`);
}

/** Returns null if one of them is not known. */
export function sum(amounts: readonly Whole[]): Whole {
  let result = 0n;
  for (const amount of amounts) {
    if (amount === null) return null;
    result += amount;
  }
  return result;
}

export function negative(amount: Whole): Whole {
  return amount === null ? null : -amount;
}

/** The amount as a person reads it: with separators, and at least the decimals of the currency. */
export function shown(amount: Whole, currency: string): string {
  if (amount === null) return 'not known';
  const digits = String(amount < 0n ? -amount : amount).padStart(places + 1, '0');
  const decimals = digits.slice(-places).replace(/0+$/, '').padEnd(decimalsOf(currency), '0');
  const before = digits.slice(0, -places).replace(/\B(?=(\d{3})+$)/g, ',');
  return `${amount < 0n ? '-' : ''}${before}${decimals === '' ? '' : `.${decimals}`}`;
}

/** The decimals of the currencies in random books. */
function decimalsOf(currency: string): number {
  return { '': 0, XAU: 0, JPY: 0, KWD: 3, CLF: 4 }[currency] ?? 2;
}

/** Sorts the greatest first, and unknown amounts before all. */
export function greatestFirst(one: Whole, other: Whole): number {
  if (one === null || other === null) return Number(one !== null) - Number(other !== null);
  return one === other ? 0 : one > other ? -1 : 1;
}
