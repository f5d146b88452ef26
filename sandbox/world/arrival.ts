import type { RecordSource } from '../data/record-source.ts';

/** How many batches of the first sync are here. One that comes as a whole is one batch. */
export function batchesArrived({ addedAt, readyAt, batches }: Arrival, now: number): number {
  if (readyAt === null) return 0;
  // Who was ready when it was added stays so, also when the clock is put back.
  if (readyAt <= Math.max(now, addedAt)) return batches;
  return Math.max(0, Math.floor((batches * (now - addedAt)) / (readyAt - addedAt)));
}

/** Records of later batches were synced when their batch was, so that a client who goes on by `last_synced_at` meets them. */
export function inBatches(source: RecordSource, arrival: Arrival): RecordSource {
  const { addedAt, readyAt, batches } = arrival;
  if (batches === 1 || readyAt === null) return source;
  const arrivedAt = (batch: number) => Math.ceil(addedAt + ((readyAt - addedAt) * (batch + 1)) / batches);
  return {
    ...source,
    lastSyncedAt(index) {
      const batch = Math.floor((index * batches) / source.size);
      return batch === 0
        ? source.lastSyncedAt(index)
        : Math.max(source.lastSyncedAt(index), arrivedAt(batch));
    },
  };
}

/** How the records of the first sync arrive. Times are Unix ms. */
export interface Arrival {
  readonly addedAt: number;
  /** When the initial sync is (or was) finished; null: not before it is told so. */
  readyAt: number | null;
  readonly batches: number;
}
