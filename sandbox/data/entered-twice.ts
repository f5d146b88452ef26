import type { Company } from './company.ts';

/**
 * Gives the bill that bill `index` is a second entry of, or `index` itself. One bill in 200 is entered again a month
 * later, with the same amounts and its number written a little differently, as happens in real books.
 */
export function createOriginalOf(company: Company, vendorCount: number): (index: number) => number {
  const chance = company.dice('entered-twice');
  return (index) => (index >= vendorCount && chance(index) % 200 === 0 ? index - vendorCount : index);
}
