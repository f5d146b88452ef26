import { counted } from '../frame/counted.ts';

/** Numbers of customers whose movement in a month is not known, although what they paid at its beginning and end is known. */
export interface UnknownMoves {
  /** Customers who may or may not have paid before. */
  readonly unknown_past: number;
  /** Customers whose payments in another currency are not known. */
  readonly unknown_beside: number;
}

/** Returns one sentence for each reason why movements are not known in some of `months`. */
export function unknownMoveWords(months: readonly UnknownMoves[]): string[] {
  return [
    ...most(months.map(({ unknown_past: count }) => count)).map(
      (when) =>
        `${when} began to pay, and nobody knows who of them paid before (something of theirs was not active, nor in trial, when history begins or when they were first seen, or had no price that is known, or was created before history begins and learned of later, or something before is gone from history): New and Reactivation are “not known” then`,
    ),
    ...most(months.map(({ unknown_beside: count }) => count)).map(
      (when) =>
        `${when} paid more or less, and nobody knows what they pay in another currency, nor whether they are new or lost: movements that depend on it are “not known” then`,
    ),
  ];
}

/** In how many months it happens, and the largest number of customers in one month. */
function most(counts: readonly number[]): string[] {
  const customers = Math.max(0, ...counts);
  if (customers === 0) return [];
  return [
    `in ${counts.filter((count) => count > 0).length} of these months up to ${counted(customers, 'customer')}`,
  ];
}
