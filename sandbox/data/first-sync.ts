import { hourMs } from './calendar.ts';

/**
 * When a record of a new world was last synced. The first sync took place an hour before `asOf`, in batches whose records are all
 * stamped alike, which is why a client must never assume that `last_synced_at` is unique. The newest record came at `asOf`: so a
 * client that goes on from there with a lookback of less than an hour reads what has changed since, and not everything once more.
 */
export function firstSyncedAt(asOf: number, { index, size }: { index: number; size: number }): number {
  if (index === size - 1) return asOf;
  return asOf - hourMs + Math.floor(index / batchSize) * batchMs;
}

const batchSize = 300;
const batchMs = 20;
