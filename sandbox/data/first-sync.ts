/**
 * When record `index` was first synced. The service works in batches and stamps all records of one alike, which is why
 * a client must never assume that `last_synced_at` is unique.
 */
export function firstSyncedAt(asOf: number, index: number): number {
  return asOf + Math.floor(index / batchSize) * batchMs;
}

const batchSize = 300;
const batchMs = 20;
