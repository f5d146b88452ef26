import type { RecordSource } from '../data/record-source.ts';
import { withMember } from '../json/members.ts';
import { firstSyncOrder } from './first-sync-order.ts';
import type { FirstSyncOrder } from './first-sync-order.ts';
import { comparePlaces, sortPlace } from './stored-record.ts';
import type { SortField, StoredRecord } from './stored-record.ts';
import { mergeWalks, walkSorted } from './walk-sorted.ts';
import type { WalkOrder } from './walk-sorted.ts';

/**
 * All records of one resource of one connection: those of the first sync, computed on demand, overlaid with the changes
 * since. Only the changes take memory.
 */
export class Collection {
  readonly source: RecordSource;
  /** Records that were changed or added after the first sync. */
  readonly #changed = new Map<string, StoredRecord>();
  /** Indexes of the first sync's records that are changed or deleted. */
  readonly #replaced = new Set<number>();
  /** The previous states of the latest changes, oldest first: enough to show the collection as it was a while ago. */
  #undo: Undo[] = [];
  /** Deleted records as they were, for recreating them. */
  readonly #deleted = new Map<string, StoredRecord>();
  /** The changed records in order; rebuilt on demand after a change. */
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
    const index = this.#indexOf(id);
    return index === null || this.#replaced.has(index) ? null : this.#original(index);
  }

  getByPlatformId(platformId: string): StoredRecord | null {
    const index = this.source.indexOfPlatformId(platformId);
    const record = index === null ? null : this.get(this.source.ids.at(index));
    if (record !== null) return record;
    const added = [...this.#changed.values()].filter((candidate) => candidate.index === null);
    return added.find((candidate) => readPlatformId(this.text(candidate)) === platformId) ?? null;
  }

  deleted(id: string): StoredRecord | null {
    return this.#deleted.get(id) ?? null;
  }

  /** Adds a record, or replaces the one with the same ID. */
  put(record: Omit<StoredRecord, 'index'>): void {
    this.#remember(record.id);
    this.#set({ ...record, index: this.#indexOf(record.id) });
    this.#deleted.delete(record.id);
  }

  delete(record: StoredRecord): void {
    this.#remember(record.id);
    this.#remove(record);
  }

  /** Returns the collection as of a local time in Unix ms, by undoing the latest 5,000 changes; older ones always remain. */
  asOf(time: number): Collection {
    const past = new Collection(this.source);
    for (const [id, record] of this.#changed) past.#changed.set(id, record);
    for (const index of this.#replaced) past.#replaced.add(index);
    for (const { at, id, before } of this.#undo.toReversed()) {
      if (at <= time) continue;
      const now = past.get(id);
      if (before !== null) past.#set(before);
      else if (now !== null) past.#remove(now);
    }
    return past;
  }

  #remember(id: string): void {
    this.#undo.push({ at: Date.now(), id, before: this.get(id) });
    if (this.#undo.length > 2 * undoKept) this.#undo = this.#undo.slice(-undoKept);
  }

  #set(record: StoredRecord): void {
    if (record.index !== null) this.#replaced.add(record.index);
    this.#changed.set(record.id, record);
    this.#sorted.clear();
  }

  #remove(record: StoredRecord): void {
    if (record.index !== null) this.#replaced.add(record.index);
    this.#changed.delete(record.id);
    this.#deleted.set(record.id, record);
    this.#sorted.clear();
  }

  /** The record's JSON text without `platform_data`. */
  text(record: StoredRecord): string {
    return record.text ?? this.source.render(record.index ?? 0, record.lastSyncedAt);
  }

  platformData(record: StoredRecord): string {
    return record.platformData ?? (record.index === null ? '{}' : this.source.platformData(record.index));
  }

  /** Returns the record's text, in any version, with its `platform_data`. */
  expanded(record: StoredRecord, text: string): string {
    return withMember(text, 'platform_data', this.platformData(record));
  }

  /** Walks all records in order, from the one at `from`, or from the place where it would be. */
  walk(order: WalkOrder): Iterable<StoredRecord> {
    return mergeWalks(this.#walkOriginals(order), walkSorted(this.#sortedChanges(order.field), order), order);
  }

  /** Returns all records in the order of their sync. */
  all(): StoredRecord[] {
    return [...this.walk({ field: 'last_synced_at', descending: false, from: null })];
  }

  *#walkOriginals({ field, descending, from }: WalkOrder): Generator<StoredRecord> {
    const order = this.#orders.get(field) ?? firstSyncOrder(this.source, field);
    this.#orders.set(field, order);
    for (const index of order.walk(descending, from)) {
      if (!this.#replaced.has(index)) yield this.#original(index);
    }
  }

  #sortedChanges(field: SortField): StoredRecord[] {
    const known = this.#sorted.get(field);
    if (known !== undefined) return known;
    const sorted = [...this.#changed.values()].sort((left, right) =>
      comparePlaces(sortPlace(left, field), sortPlace(right, field)),
    );
    this.#sorted.set(field, sorted);
    return sorted;
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

  #indexOf(id: string): number | null {
    const index = this.source.ids.indexOf(id);
    return index !== null && index < this.source.size ? index : null;
  }
}

const undoKept = 5_000;

interface Undo {
  readonly at: number;
  readonly id: string;
  /** Null: there was no record. */
  readonly before: StoredRecord | null;
}

function readPlatformId(text: string): unknown {
  return (JSON.parse(text) as { platform_id?: unknown }).platform_id;
}
