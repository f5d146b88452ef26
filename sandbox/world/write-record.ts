import { createHash } from 'node:crypto';
import type { ResourceName } from '../api/resources.ts';
import { joinMembers, splitMembers } from '../json/members.ts';
import type { Collection } from './collection.ts';
import type { StoredRecord } from './stored-record.ts';

/** Writes a record as a sync at `at` leaves it. Subscriptions show no `last_synced_at` (2.8). */
export function writeSynced(
  collection: Collection,
  resource: ResourceName,
  written: Written,
  at: number,
): void {
  const { id, members } = written;
  const platformData = members.get('platform_data') ?? written.platformData;
  members.delete('platform_data');
  if (resource !== 'subscriptions') members.set('last_synced_at', quotedTime(at));
  const updatedAt = parseTime(members.get('updated_at'));
  collection.put({ id, text: joinMembers(members), platformData, lastSyncedAt: at, updatedAt });
}

/** Replaces members of a record. Both times change, unless the patch sets `updated_at`. */
export function writeChanged(
  collection: Collection,
  resource: ResourceName,
  { record, patch, remove = [] }: Change,
  at: number,
): void {
  const members = splitMembers(collection.text(record));
  if (!patch.has('updated_at')) members.set('updated_at', quotedTime(at));
  for (const [name, value] of patch) members.set(name, value);
  for (const name of remove) members.delete(name);
  const platformData = collection.platformData(record);
  writeSynced(collection, resource, { id: record.id, members, platformData }, at);
}

/** Writes a record exactly as given. Its place in lists is by its own time, or by `at`. */
export function writeVerbatim(collection: Collection, record: string, at: number): void {
  const members = splitMembers(record);
  const platformData = members.get('platform_data') ?? null;
  const lastSyncedAt = parseTime(members.get('last_synced_at')) ?? at;
  const updatedAt = parseTime(members.get('updated_at'));
  members.delete('platform_data');
  const text = platformData === null ? record : joinMembers(members);
  collection.put({ id: readRecordId(record), text, platformData, lastSyncedAt, updatedAt });
}

/** Changes only `last_synced_at`. A record that is unchanged since the first sync stays computed, since a million may be touched. */
export function writeTouched(collection: Collection, record: StoredRecord, at: number): void {
  const text = record.text === null ? null : restamped(record.text, at);
  collection.put({ ...record, text, lastSyncedAt: at });
}

/** Returns the ID in a record's JSON text; a record without one is stored under a name derived from its content. */
export function readRecordId(record: string): string {
  const name = createHash('sha256').update(record).digest('hex').slice(0, 16);
  return parseText(splitMembers(record).get('id')) ?? `unnamed-${name}`;
}

export function quotedTime(time: number): string {
  return `"${new Date(time).toISOString()}"`;
}

function restamped(text: string, at: number): string {
  const members = splitMembers(text);
  if (members.has('last_synced_at')) members.set('last_synced_at', quotedTime(at));
  return joinMembers(members);
}

function parseTime(json: string | undefined): number | null {
  const time = Date.parse(parseText(json) ?? '');
  return Number.isNaN(time) ? null : time;
}

function parseText(json: string | undefined): string | null {
  const value: unknown = json === undefined ? null : JSON.parse(json);
  return typeof value === 'string' && value !== '' ? value : null;
}

interface Change {
  readonly record: StoredRecord;
  /** Member names and their JSON texts. */
  readonly patch: ReadonlyMap<string, string>;
  readonly remove?: readonly string[];
}

interface Written {
  readonly id: string;
  readonly members: Map<string, string>;
  readonly platformData: string | null;
}
