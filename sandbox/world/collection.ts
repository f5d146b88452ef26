import type { RecordSource } from '../data/record-source.ts';
import { firstSyncOrder } from './first-sync-order.ts';
import type { FirstSyncOrder } from './first-sync-order.ts';
import { comparePlaces, placeOf } from './stored-record.ts';
import type { Place, SortField, StoredRecord } from './stored-record.ts';

/**
 * All records of one resource of one connection: those of the first sync, computed when asked for, and over them what
 * has changed since. Only the changes take memory.
 */
export class Collection {
  readonly source: RecordSource;
  /** Records that were changed or added after the first sync. */
  readonly #changed = new Map<string, StoredRecord>();
  /** Indexes of the first sync that are changed or deleted. */
  readonly #replaced = new Set<number>();
  /** Deleted records as they were, to be brought back. */
  readonly #deleted = new Map<string, StoredRecord>();
  readonly #sorted = new Map<SortField, StoredRecord[]>();
  readonly #orders = new Map<SortField, FirstSyncOrder>();

  constructor(source: RecordSource) {
    this.source = source;
  }

  get size(): number {
    return this.source.size - this.#replaced.size + this.#changed.size;
  }

  get(id: string): StoredRecord | null {
    const changed = this.#changed.get(id);
    if (changed !== undefined) return changed;
    const index = this.source.ids.indexOf(id);
    return index === null || index >= this.source.size || this.#replaced.has(index)
      ? null
      : this.#original(index);
  }

  deleted(id: string): StoredRecord | null {
    return this.#deleted.get(id) ?? null;
  }

  getByPlatformId(platformId: string): StoredRecord | null {
    const index = this.source.indexOfPlatformId(platformId);
    if (index !== null) {
      const record = this.get(this.source.ids.at(index));
      if (record !== null) return record;
    }
    const added = [...this.#changed.values()].filter(
      (record) => record.index === null && record.text !== null,
    );
    return added.find(({ text }) => readMember(text, 'platform_id') === platformId) ?? null;
  }

  /** Adds a record or puts it in the place of the one with its ID. */
  put(record: StoredRecord): void {
    const index = this.source.ids.indexOf(record.id);
    const original = index !== null && index < this.source.size ? index : null;
    if (original !== null) this.#replaced.add(original);
    this.#changed.set(record.id, { ...record, index: original });
    this.#deleted.delete(record.id);
    this.#sorted.clear();
  }

  delete(id: string): StoredRecord | null {
    const record = this.get(id);
    if (record === null) return null;
    if (record.index !== null) this.#replaced.add(record.index);
    this.#changed.delete(id);
    this.#deleted.set(id, record);
    this.#sorted.clear();
    return record;
  }

  /** The record's JSON text without `platform_data`. */
  text(record: StoredRecord): string {
    return record.text ?? this.source.render(record.index ?? 0, record.lastSyncedAt);
  }

  platformData(record: StoredRecord): string {
    return record.platformData ?? (record.index === null ? '{}' : this.source.platformData(record.index));
  }

  /** All records in order, beginning with `from` itself if it is still there, and otherwise where it would stand. */
  *walk(field: SortField, descending: boolean, from: Place | null): Generator<StoredRecord> {
    const direction = descending ? -1 : 1;
    const originals = this.#walkOriginals(field, descending, from);
    const changed = this.#walkChanged(field, descending, from);
    let original = originals.next();
    let change = changed.next();
    while (original.done !== true || change.done !== true) {
      const takeOriginal =
        change.done === true ||
        (original.done !== true &&
          direction * comparePlaces(placeOf(original.value, field), placeOf(change.value, field)) < 0);
      if (takeOriginal && original.done !== true) {
        yield original.value;
        original = originals.next();
      } else if (change.done !== true) {
        yield change.value;
        change = changed.next();
      }
    }
  }

  *#walkOriginals(field: SortField, descending: boolean, from: Place | null): Generator<StoredRecord> {
    const { size } = this.source;
    const order = this.#order(field);
    const start = from === null ? (descending ? size - 1 : 0) : order.positionOf(from);
    // Descending, the place itself is included only when a record stands exactly there.
    const first =
      from !== null && descending && !this.#standsAt(order, field, start, from) ? start - 1 : start;
    for (let position = first; position >= 0 && position < size; position += descending ? -1 : 1) {
      const index = order.indexAt(position);
      if (!this.#replaced.has(index)) yield this.#original(index);
    }
  }

  *#walkChanged(field: SortField, descending: boolean, from: Place | null): Generator<StoredRecord> {
    const sorted = this.#sortedChanges(field);
    const direction = descending ? -1 : 1;
    let position = descending ? sorted.length - 1 : 0;
    if (from !== null) {
      const at = lowerBound(sorted, field, from);
      const standing = sorted[at];
      const exact = standing !== undefined && comparePlaces(placeOf(standing, field), from) === 0;
      position = descending && !exact ? at - 1 : at;
    }
    for (let record = sorted[position]; record !== undefined; record = sorted[(position += direction)])
      yield record;
  }

  #standsAt(order: FirstSyncOrder, field: SortField, position: number, place: Place): boolean {
    if (position >= this.source.size) return false;
    return comparePlaces(placeOf(this.#original(order.indexAt(position)), field), place) === 0;
  }

  #sortedChanges(field: SortField): StoredRecord[] {
    const known = this.#sorted.get(field);
    if (known !== undefined) return known;
    const sorted = [...this.#changed.values()].sort((left, right) =>
      comparePlaces(placeOf(left, field), placeOf(right, field)),
    );
    this.#sorted.set(field, sorted);
    return sorted;
  }

  #order(field: SortField): FirstSyncOrder {
    const order = this.#orders.get(field) ?? firstSyncOrder(this.source, field);
    this.#orders.set(field, order);
    return order;
  }

  #original(index: number): StoredRecord {
    return {
      id: this.source.ids.at(index),
      index,
      lastSyncedAt: this.source.lastSyncedAt(index),
      updatedAt: this.source.updatedAt(index),
      text: null,
      platformData: null,
    };
  }
}

function lowerBound(sorted: readonly StoredRecord[], field: SortField, place: Place): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const record = sorted[middle];
    if (record !== undefined && comparePlaces(placeOf(record, field), place) < 0) low = middle + 1;
    else high = middle;
  }
  return low;
}

function readMember(text: string | null, name: string): unknown {
  return (JSON.parse(text ?? '{}') as Record<string, unknown>)[name];
}
