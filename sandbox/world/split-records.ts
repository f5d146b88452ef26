import type { Platform } from '../api/platforms.ts';
import { resourceNames } from '../api/resources.ts';
import type { ResourceName } from '../api/resources.ts';

/**
 * Returns how many records of each resource a connection with `total` records has. Bills are the majority and get the remainder. Each of the
 * others has at least one, however small the total.
 */
export function splitRecords(platform: Platform, total: number): Record<ResourceName, number> {
  const counts = { bills: 0, expenses: 0, bill_credit_memos: 0, customers: 0, items: 0, subscriptions: 0 };
  const main = platform.lists.includes('bills') ? 'bills' : platform.lists[0];
  if (main === undefined) return counts;
  counts[main] = total;
  for (const name of resourceNames) {
    if (name === main || !platform.lists.includes(name)) continue;
    counts[name] = Math.max(1, Math.floor(total * share[name]));
    counts[main] -= counts[name];
  }
  counts[main] = Math.max(0, counts[main]);
  return counts;
}

const share: Record<ResourceName, number> = {
  bills: 0.6,
  expenses: 0.2,
  bill_credit_memos: 0.05,
  customers: 0.06,
  items: 0.04,
  subscriptions: 0.05,
};
