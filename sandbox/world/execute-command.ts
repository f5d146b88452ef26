import { createHash } from 'node:crypto';
import { joinMembers, splitMembers } from '../json/members.ts';
import type { Collection } from './collection.ts';
import type { Command, CommandOf } from './command.ts';
import { createConnection } from './connection.ts';
import type { Connection } from './connection.ts';
import type { ResourceName } from './resources.ts';
import { resources } from './resources.ts';
import type { StoredRecord } from './stored-record.ts';
import { CommandError } from './command-error.ts';
import type { World } from './world.ts';

/**
 * Changes the world. `at` is the service's time, Unix ms: commands depend on nothing else, so that replaying a journal
 * gives the same world again. Returns what the caller cannot know, such as the ID of an added record.
 *
 * @throws CommandError when there is no such connection or record, or already one.
 */
export function executeCommand(world: World, command: Command, at: number): CommandResult {
  switch (command.kind) {
    case 'add-connection':
      return addConnection(world, command, at);
    case 'make-ready':
      world.connectionNamed(command.connection).readyAt = at;
      return {};
    case 'refuse':
      world.connectionNamed(command.connection).refusal = command.refusal;
      return {};
    case 'change':
      return changeRecord(collectionOf(world, command), command, at);
    case 'touch':
      return touchRecords(collectionOf(world, command), command, at);
    case 'delete':
      return deleteRecord(world.connectionNamed(command.connection), command, at);
    case 'recreate':
      return recreateRecord(collectionOf(world, command), command, at);
    case 'add':
      return addRecord(collectionOf(world, command), command, at);
    case 'set-clock':
      world.clock.set(command);
      return {};
  }
}

function addConnection(world: World, command: CommandOf<'add-connection'>, at: number): CommandResult {
  const { name } = command;
  if (world.connections.has(name)) throw new CommandError(`There is a connection named ${name} already.`);
  const readyAt = command.readyAfterMs !== undefined ? at + command.readyAfterMs : command.ready ? at : null;
  const connection = createConnection({ ...world.description, ...command, addedAt: at, readyAt });
  world.connections.set(name, connection);
  return { accessToken: connection.accessToken };
}

function changeRecord(collection: Collection, command: CommandOf<'change'>, at: number): CommandResult {
  const record = find(collection, command);
  const members = splitMembers(collection.text(record));
  const patch = splitMembers(command.patch);
  if (!patch.has('updated_at')) members.set('updated_at', quotedTime(at));
  for (const [name, value] of patch) members.set(name, value);
  for (const name of command.remove) members.delete(name);
  const platformData = collection.platformData(record);
  collection.put(syncedRecord(command.resource, { id: record.id, members, platformData }, at));
  return { id: record.id };
}

function touchRecords(collection: Collection, command: CommandOf<'touch'>, at: number): CommandResult {
  const { every = 1 } = command;
  const chosen =
    command.ids === undefined
      ? [...collection.walk('last_synced_at', false, null)].filter((_, position) => position % every === 0)
      : command.ids.map((id) => find(collection, { ...command, id }));
  for (const record of chosen) {
    // A record still as first synced stays computed: touching a million records must not write a million texts.
    const text = record.text === null ? null : restamped(record.text, at);
    collection.put({ ...record, text, lastSyncedAt: at });
  }
  return { count: chosen.length };
}

function deleteRecord(connection: Connection, command: CommandOf<'delete'>, at: number): CommandResult {
  const { resource, id } = command;
  find(connection.collections[resource], command);
  connection.collections[resource].delete(id);
  const { eventName } = resources[resource];
  const seen = connection.platform.deletionEvents.includes(resource);
  if (command.event && seen && eventName !== null) {
    const eventId = createHash('sha256')
      .update(`${connection.name}/${id}/${at}/${connection.events.length}`)
      .digest('hex');
    connection.events.push({ id: `evt-${eventId.slice(0, 24)}`, resource: eventName, recordId: id, at });
  }
  return { id };
}

function recreateRecord(collection: Collection, command: CommandOf<'recreate'>, at: number): CommandResult {
  const record = collection.deleted(command.id);
  if (record === null) throw new CommandError(`No deleted ${command.resource} record ${command.id}.`);
  collection.put({
    ...record,
    text: record.text === null ? null : restamped(record.text, at),
    lastSyncedAt: at,
  });
  return { id: record.id };
}

function addRecord(collection: Collection, command: CommandOf<'add'>, at: number): CommandResult {
  const members = splitMembers(command.record);
  const platformData = members.get('platform_data') ?? null;
  const id =
    textOf(members.get('id')) ??
    `unnamed-${createHash('sha256').update(command.record).digest('hex').slice(0, 16)}`;
  if (command.keepLastSyncedAt) {
    members.delete('platform_data');
    const lastSyncedAt = timeOf(members.get('last_synced_at')) ?? at;
    const text = platformData === null ? command.record : joinMembers(members);
    collection.put({
      id,
      index: null,
      text,
      platformData,
      lastSyncedAt,
      updatedAt: timeOf(members.get('updated_at')),
    });
  } else {
    collection.put(syncedRecord(command.resource, { id, members, platformData }, at));
  }
  return { id };
}

/** The record as a sync at `at` leaves it. Subscriptions show no `last_synced_at`. */
function syncedRecord(
  resource: ResourceName,
  { id, members, platformData }: Written,
  at: number,
): StoredRecord {
  const ownPlatformData = members.get('platform_data') ?? platformData;
  members.delete('platform_data');
  if (resource !== 'subscriptions') members.set('last_synced_at', quotedTime(at));
  return {
    id,
    index: null,
    text: joinMembers(members),
    platformData: ownPlatformData,
    lastSyncedAt: at,
    updatedAt: timeOf(members.get('updated_at')),
  };
}

function restamped(text: string, at: number): string {
  const members = splitMembers(text);
  if (members.has('last_synced_at')) members.set('last_synced_at', quotedTime(at));
  return joinMembers(members);
}

function find(collection: Collection, target: { resource: ResourceName; id: string }): StoredRecord {
  const record = collection.get(target.id);
  if (record === null) throw new CommandError(`No ${target.resource} record ${target.id}.`);
  return record;
}

function collectionOf(world: World, target: { connection: string; resource: ResourceName }): Collection {
  return world.connectionNamed(target.connection).collections[target.resource];
}

function textOf(json: string | undefined): string | null {
  const value: unknown = json === undefined ? null : JSON.parse(json);
  return typeof value === 'string' && value !== '' ? value : null;
}

function timeOf(json: string | undefined): number | null {
  const time = Date.parse(textOf(json) ?? '');
  return Number.isNaN(time) ? null : time;
}

function quotedTime(time: number): string {
  return `"${new Date(time).toISOString()}"`;
}

export interface CommandResult {
  readonly id?: string;
  readonly count?: number;
  readonly accessToken?: string;
}

interface Written {
  readonly id: string;
  readonly members: Map<string, string>;
  readonly platformData: string | null;
}
