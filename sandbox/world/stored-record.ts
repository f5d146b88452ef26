/** The current state of a record in the service. */
export interface StoredRecord {
  readonly id: string;
  /** Its index among the records of the first sync; null if it came later. */
  readonly index: number | null;
  /** Unix ms. */
  readonly lastSyncedAt: number;
  /** Unix ms; null if the platform gave none. */
  readonly updatedAt: number | null;
  /** JSON text without `platform_data`; null while it is unchanged since the first sync. */
  readonly text: string | null;
  /** JSON text, null as above. */
  readonly platformData: string | null;
}

export type SortField = 'last_synced_at' | 'updated_at';

/** A place in an order, where a record is or would be. A missing time is before all others. */
export interface Place {
  readonly time: number | null;
  readonly id: string;
}

export function sortPlace(record: StoredRecord, field: SortField): Place {
  return { time: field === 'updated_at' ? record.updatedAt : record.lastSyncedAt, id: record.id };
}

export function comparePlaces(left: Place, right: Place): number {
  const leftTime = left.time ?? -Infinity;
  const rightTime = right.time ?? -Infinity;
  if (leftTime !== rightTime) return leftTime < rightTime ? -1 : 1;
  return left.id === right.id ? 0 : left.id < right.id ? -1 : 1;
}
