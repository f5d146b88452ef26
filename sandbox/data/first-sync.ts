import { hourMs } from './calendar.ts';

/**
 * When a record of a new world was last synced. The first sync took place an hour before `asOf`, in batches whose records are all
 * stamped alike, which is why a client must never assume that `last_synced_at` is unique. The newest record came at `asOf`: so a
 * client that goes on from there with a lookback of less than half an hour reads what has changed since, and not everything again.
 *
 * `newest`: the last record of each stream, in their order; those of one pass of the service, half an hour before the next one.
 */
export function firstSyncedAt(
  asOf: number,
  { index, newest }: { index: number; newest: readonly number[] },
): number {
  const later = newest.filter((first) => first > index).length;
  if (later < newest.length) return asOf - later * (hourMs / 2);
  return asOf - hourMs + Math.floor(index / batchSize) * batchMs;
}

const batchSize = 300;
const batchMs = 20;
