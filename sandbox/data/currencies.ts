/** Currencies of the sandbox's books. */
export const currencies = {
  USD: { code: 'USD', digits: 2, minorPerCent: 1, microDollars: 1_000_000 },
  EUR: { code: 'EUR', digits: 2, minorPerCent: 1, microDollars: 1_084_300 },
  GBP: { code: 'GBP', digits: 2, minorPerCent: 1, microDollars: 1_271_500 },
  JPY: { code: 'JPY', digits: 0, minorPerCent: 1, microDollars: 6_712 },
  KWD: { code: 'KWD', digits: 3, minorPerCent: 3, microDollars: 3_256_700 },
} as const satisfies Record<string, Currency>;

/**
 * Formats an amount in minor units as JSON number text with all digits: 1050 with two digits is `10.50`. Amounts are
 * whole numbers of minor units everywhere in the sandbox, so formatting never rounds.
 */
export function formatAmount(minor: number, digits: number): string {
  if (digits === 0) return minor.toString();
  if (minor < 0) return `-${formatAmount(-minor, digits)}`;
  const text = minor.toString().padStart(digits + 1, '0');
  return `${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/** Units of `home` for one unit of `currency`, with six decimals. */
export function exchangeRate(currency: Currency, home: Currency): string {
  return formatAmount(Math.round((currency.microDollars * 1_000_000) / home.microDollars), 6);
}

export interface Currency {
  readonly code: string;
  /** Digits after the decimal point: the minor unit of ISO 4217. */
  readonly digits: number;
  /** Converts a price in cents to a price of similar value in minor units of this currency. */
  readonly minorPerCent: number;
  readonly microDollars: number;
}
