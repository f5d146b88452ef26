import type { Company } from './company.ts';
import { currencies } from './currencies.ts';
import type { Currency } from './currencies.ts';
import { pick } from './pick.ts';

/** The vendors behind bills, credits and expenses. They are not a resource of their own; only their IDs are visible. */
export function createVendors(company: Company): Vendors {
  const billsPerMonth = Math.max(1, Math.ceil(company.counts.bills / company.months.length));
  // As many vendors as bills in a month, so each of them bills once a month, up to a plausible number of vendors.
  const count = Math.min(400, Math.max(5, billsPerMonth));
  const ids = company.ids('vendor');
  const character = company.dice('vendor');
  const vendors = Array.from({ length: count }, (_, index): Vendor => {
    const number = character(index);
    return {
      index,
      id: ids.at(index),
      currency: number % 5 === 0 ? pick(foreign, number >>> 8) : company.home,
      taxRate: number % 7,
      termDays: pick(termDays, number >>> 4),
      termsId: pick(company.paymentTerms, termDays.indexOf(pick(termDays, number >>> 4))),
      lateDays: (number >>> 12) % 12,
    };
  });
  const [first = unreachable()] = vendors;
  return { count, at: (index) => vendors[index % count] ?? first };
}

function unreachable(): never {
  throw new Error('A company has at least five vendors.');
}

/** Mostly net 30, with exceptions. */
const termDays = [30, 30, 30, 15, 30, 60, 0] as const;

const foreign: readonly [Currency, ...Currency[]] = [
  currencies.EUR,
  currencies.GBP,
  currencies.JPY,
  currencies.KWD,
  currencies.USD,
];

export interface Vendors {
  readonly count: number;
  /** Returns the vendor of any whole number, wrapping around. */
  at(index: number): Vendor;
}

export interface Vendor {
  readonly index: number;
  readonly id: string;
  readonly currency: Currency;
  /** Index into `taxRatesInBasisPoints`. */
  readonly taxRate: number;
  readonly termDays: number;
  readonly termsId: string;
  /** The usual number of days between the due date and our payment. */
  readonly lateDays: number;
}
