import type { Company } from './company.ts';
import type { Vendor } from './vendors.ts';

/** Returns the amounts of bill `index` in whole minor units, so that lines and header agree exactly. */
export function createBillAmounts(company: Company): (index: number, vendor: Vendor) => DocumentAmounts {
  const shape = company.dice('bill-lines');
  return (index, vendor) => {
    const number = shape(index);
    const lineCount = lineCounts[number % lineCounts.length] ?? 4;
    const lines = Array.from({ length: lineCount }, (_, position) =>
      lineAmounts(shape(index * 8 + position + 1_000_003), vendor),
    );
    const subTotal = lines.reduce((sum, line) => sum + line.subTotal, 0);
    const tax = lines.reduce((sum, line) => sum + line.tax, 0);
    const discount = number % 25 === 3 ? Math.floor(subTotal / 50) : 0;
    return { lines, subTotal, tax, discount, total: subTotal + tax - discount };
  };
}

function lineAmounts(number: number, vendor: Vendor): LineAmounts {
  const byTheHour = number % 6 === 0;
  const quarters = byTheHour ? 1 + ((number >>> 4) % 160) : 4 * (1 + ((number >>> 4) % 12));
  // A multiple of four minor units, so that quarter units cost a whole number of them.
  const unitAmount = 4 * (100 + ((number >>> 9) % 9_000)) * vendor.currency.minorPerCent;
  const gross = (quarters * unitAmount) / 4;
  const discountPercentage = number % 17 === 0 ? 10 : 0;
  const discount = Math.floor((gross * discountPercentage) / 100);
  const subTotal = gross - discount;
  const tax = taxOn(subTotal, vendor.taxRate);
  return { quarters, unitAmount, discount, discountPercentage, subTotal, tax, total: subTotal + tax };
}

/** Tax of a net amount in minor units, rounded half up. */
function taxOn(net: number, taxRate: number): number {
  return Math.floor((net * (taxRatesInBasisPoints[taxRate] ?? 0) + 5_000) / 10_000);
}

export const taxRatesInBasisPoints = [0, 500, 700, 875, 1_000, 1_900, 2_000] as const;

const lineCounts = [1, 2, 3, 4, 4, 4, 5, 6, 7] as const;

export interface DocumentAmounts {
  readonly lines: readonly LineAmounts[];
  readonly subTotal: number;
  readonly tax: number;
  /** The discount on the whole document, in addition to the discounts of its lines. */
  readonly discount: number;
  /** subTotal + tax - discount. */
  readonly total: number;
}

export interface LineAmounts {
  /** Quantity in quarters. */
  readonly quarters: number;
  readonly unitAmount: number;
  readonly discount: number;
  readonly discountPercentage: number;
  readonly subTotal: number;
  readonly tax: number;
  readonly total: number;
}
