import type { Parameters } from '../api/parameters.ts';
import type { PlatformFilter } from '../api/platforms.ts';
import type { ResourceName } from '../api/resources.ts';
import type { Facet } from '../data/record-source.ts';
import type { Collection } from '../world/collection.ts';
import type { StoredRecord } from '../world/stored-record.ts';

/**
 * Reads the filters of a list (4.1 to 4.5). Times are Unix ms, and both ends are inclusive; a record without `updated_at` is in
 * none of its ranges. Filters that the platform does not support are ignored.
 *
 * @throws ApiError 400
 */
export function readFilters(
  parameters: Parameters,
  resource: ResourceName,
  supported: readonly PlatformFilter[],
): Filters {
  const range = (name: string): Range => ({
    min: parameters.integer(`${name}_min`) ?? -Infinity,
    max: parameters.integer(`${name}_max`) ?? Infinity,
  });
  const updatedAt = range('updated_at');
  const syncedMin = resource === 'subscriptions' ? null : parameters.integer('last_synced_at_min');
  const ranges = { updated_at: updatedAt, last_synced_at: { min: syncedMin ?? -Infinity, max: Infinity } };
  const tests = facetTests(parameters, resource, supported);
  return {
    ranges,
    matches: (record, collection) =>
      isIn(ranges.last_synced_at, record.lastSyncedAt) &&
      isIn(updatedAt, record.updatedAt) &&
      tests.every(({ facet, test }) => test(readFacet(record, collection, facet))),
  };
}

function facetTests(
  parameters: Parameters,
  resource: ResourceName,
  supported: readonly PlatformFilter[],
): FacetTest[] {
  const tests: FacetTest[] = [];
  const exact = (facet: PlatformFilter, of: ResourceName) => {
    const wanted = parameters.text(facet);
    if (wanted !== null && resource === of && supported.includes(facet))
      tests.push({ facet, test: (value) => value === wanted });
  };
  exact('document_number', 'bills');
  exact('customer_name', 'customers');
  exact('name', 'items');
  if (resource === 'expenses') {
    // Section 4.3: refunds are listed only on request.
    const wanted = parameters.oneOf('expense_type', ['expense', 'refund']) ?? 'expense';
    tests.push({ facet: 'expense_type', test: (value) => value === wanted });
    const days = {
      min: parameters.integer('transaction_date_min') ?? -Infinity,
      max: parameters.integer('transaction_date_max') ?? Infinity,
    };
    if (supported.includes('transaction_date') && (days.min > -Infinity || days.max < Infinity)) {
      tests.push({
        facet: 'transaction_date',
        test: (value) => isIn(days, typeof value === 'number' ? value : null),
      });
    }
  }
  return tests;
}

function readFacet(record: StoredRecord, collection: Collection, facet: Facet): string | number | null {
  if (record.text === null && record.index !== null)
    return collection.source.facets[facet]?.(record.index) ?? null;
  const value = (JSON.parse(collection.text(record)) as Record<string, unknown>)[facet];
  if (typeof value !== 'string') return null;
  return facet === 'transaction_date' ? Date.parse(value) : value;
}

function isIn(range: Range, value: number | null): boolean {
  if (range.min === -Infinity && range.max === Infinity) return true;
  return value !== null && value >= range.min && value <= range.max;
}

export interface Filters {
  readonly ranges: Readonly<Record<'updated_at' | 'last_synced_at', Range>>;
  matches(record: StoredRecord, collection: Collection): boolean;
}

export interface Range {
  readonly min: number;
  readonly max: number;
}

interface FacetTest {
  readonly facet: Facet;
  readonly test: (value: string | number | null) => boolean;
}
