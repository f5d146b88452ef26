import { hourMs } from './calendar.ts';

/**
 * Returns when a record of a new world was last synced. The first sync took place an hour before `asOf`, in batches whose records share
 * one time, so a client must never assume that `last_synced_at` is unique. The newest record came at `asOf`, so a client that continues
 * from there with a lookback of less than half an hour reads only what has changed since.
 *
 * `newest`: the last record of each stream, in order. They belong to one pass of the service, each half an hour before the next.
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
