import type { Company } from './company.ts';

/**
 * Returns the bill of which bill `index` is a second entry, or `index` itself. One bill in 200 is entered again a month
 * later, with the same amounts and a slightly different number, as happens in real books.
 */
export function createOriginalOf(company: Company, vendorCount: number): (index: number) => number {
  const chance = company.dice('entered-twice');
  return (index) => (index >= vendorCount && chance(index) % 200 === 0 ? index - vendorCount : index);
}
