import { comparePlaces, sortPlace } from './stored-record.ts';
import type { Place, SortField, StoredRecord } from './stored-record.ts';

/** Walks records that are sorted ascending by a field, in either direction, from the place of `from`. */
export function* walkSorted(sorted: readonly StoredRecord[], order: WalkOrder): Generator<StoredRecord> {
  const { field, descending, from } = order;
  let position = descending ? sorted.length - 1 : 0;
  if (from !== null) {
    position = firstNotBefore(sorted, field, from);
    const standing = sorted[position];
    const standsThere = standing !== undefined && comparePlaces(sortPlace(standing, field), from) === 0;
    if (descending && !standsThere) position -= 1;
  }
  for (let record = sorted[position]; record !== undefined; record = sorted[position]) {
    yield record;
    position += descending ? -1 : 1;
  }
}

/** Merges two walks of the same order. */
export function* mergeWalks(
  left: Iterable<StoredRecord>,
  right: Iterable<StoredRecord>,
  { field, descending }: WalkOrder,
): Generator<StoredRecord> {
  const direction = descending ? -1 : 1;
  const waiting = right[Symbol.iterator]();
  let next = waiting.next();
  for (const record of left) {
    while (
      next.done !== true &&
      direction * comparePlaces(sortPlace(next.value, field), sortPlace(record, field)) < 0
    ) {
      yield next.value;
      next = waiting.next();
    }
    yield record;
  }
  for (; next.done !== true; next = waiting.next()) yield next.value;
}

function firstNotBefore(sorted: readonly StoredRecord[], field: SortField, place: Place): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const record = sorted[middle];
    if (record !== undefined && comparePlaces(sortPlace(record, field), place) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

export interface WalkOrder {
  readonly field: SortField;
  readonly descending: boolean;
  readonly from: Place | null;
}
