import type { RecordSource } from '../data/record-source.ts';

/** Returns how many batches of the first sync have arrived. A sync without batches counts as one. */
export function batchesArrived(arrival: Arrival, now: number): number {
  const { addedAt, readyAt, batches } = arrival;
  if (readyAt === null) return 0;
  const reached = timeReached(arrival, now);
  return readyAt <= reached ? batches : Math.floor((batches * (reached - addedAt)) / (readyAt - addedAt));
}

/** Returns the time up to which records have arrived: they stay, even if the clock is set back. */
export function timeReached({ reachedAt }: Arrival, now: number): number {
  return Math.max(now, reachedAt);
}

/** Gives records of later batches the sync time of their batch, so that a client that continues by `last_synced_at` finds them. */
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
  /** The time at which the initial sync is (or was) finished; null: not until a command says so. */
  readyAt: number | null;
  readonly batches: number;
  /** The latest time that the service's clock showed when the connection was added, or just before the clock was set. */
  reachedAt: number;
}
