import type { RecordIds } from './record-ids.ts';

/** The records of one resource at the first sync: pure functions of the index, nothing is stored. */
export interface RecordSource {
  readonly size: number;
  readonly ids: RecordIds;
  platformId(index: number): string;
  indexOfPlatformId(platformId: string): number | null;
  /** Unix ms; does not decrease with the index; all records of a batch share one value. */
  lastSyncedAt(index: number): number;
  /** Unix ms in whole seconds, or null. */
  updatedAt(index: number): number | null;
  /** The record as JSON text, without `platform_data`, as of a sync at the given time. */
  render(index: number, lastSyncedAt: number): string;
  /** JSON text of the raw platform record (2.1). */
  platformData(index: number): string;
  /** Values that filters compare, computed without rendering the record. */
  readonly facets: Partial<Record<Facet, (index: number) => string | number | null>>;
}

/** The fields that lists can be filtered by, in addition to the two times. */
export type Facet = 'expense_type' | 'transaction_date' | 'document_number' | 'customer_name' | 'name';
