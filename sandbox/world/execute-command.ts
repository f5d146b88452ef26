import { createHash } from 'node:crypto';
import type { ResourceName } from '../api/resources.ts';
import { resources } from '../api/resources.ts';
import { splitMembers } from '../json/members.ts';
import type { Collection } from './collection.ts';
import type { Command, CommandOf } from './command.ts';
import { applyCredit } from './apply-credit.ts';
import { createConnection } from './connection.ts';
import type { Connection } from './connection.ts';
import type { StoredRecord } from './stored-record.ts';
import { CommandError } from './command-error.ts';
import type { World } from './world.ts';
import { readRecordId, writeChanged, writeSynced, writeTouched, writeVerbatim } from './write-record.ts';

/**
 * Changes the world. `at` is the service's time in Unix ms. Commands depend on nothing else, so replaying a journal
 * recreates the same world. Returns what the caller cannot know, such as the ID of an added record.
 *
 * @throws CommandError if a connection or record does not exist, or exists already.
 */
export function executeCommand(world: World, command: Command, at: number): CommandResult {
  switch (command.kind) {
    case 'add-connection':
      return addConnection(world, command, at);
    case 'make-ready':
      return makeReady(world.connectionNamed(command.connection));
    case 'refuse':
      world.connectionNamed(command.connection).refusal = command.refusal;
      return {};
    case 'change':
      return changeRecord(findCollection(world, command), command, at);
    case 'touch':
      return touchRecords(findCollection(world, command), command, at);
    case 'delete':
      return deleteRecord(world.connectionNamed(command.connection), command, at);
    case 'recreate':
      return recreateRecord(findCollection(world, command), command, at);
    case 'add':
      return addRecord(findCollection(world, command), command, at);
    case 'apply-credit':
      return applyCredit(world.connectionNamed(command.connection), command, at);
    case 'set-clock':
      return setClock(world, command, at);
  }
}

function addConnection(world: World, command: CommandOf<'add-connection'>, at: number): CommandResult {
  const { name, batches } = command;
  if (batches > 1 && command.readyAfterMs === undefined)
    throw new CommandError('Batches need readyAfterMs: the time in which they arrive.');
  if (world.connections.has(name)) throw new CommandError(`There is a connection named ${name} already.`);
  const readyAt = command.readyAfterMs !== undefined ? at + command.readyAfterMs : command.ready ? at : null;
  const connection = createConnection({ ...world.description, ...command, addedAt: at, readyAt });
  world.connections.set(name, connection);
  return { accessToken: connection.accessToken };
}

/** A sync in batches cannot be made ready: its records already carry their times. */
function makeReady({ name, arrival }: Connection): CommandResult {
  if (arrival.batches > 1) throw new CommandError(`The records of ${name} arrive in batches by themselves.`);
  arrival.readyAt = arrival.addedAt;
  return {};
}

function changeRecord(collection: Collection, command: CommandOf<'change'>, at: number): CommandResult {
  const record = find(collection, command);
  const patch = splitMembers(command.patch);
  writeChanged(collection, command.resource, { record, patch, remove: command.remove }, at);
  return { id: record.id };
}

function touchRecords(collection: Collection, command: CommandOf<'touch'>, at: number): CommandResult {
  const { every = 1 } = command;
  const chosen =
    command.ids === undefined
      ? collection.all().filter((_, position) => position % every === 0)
      : command.ids.map((id) => find(collection, { ...command, id }));
  for (const record of chosen) writeTouched(collection, record, at);
  return { count: chosen.length };
}

function deleteRecord(connection: Connection, command: CommandOf<'delete'>, at: number): CommandResult {
  const { resource, id } = command;
  const { name, platform, collections, events } = connection;
  collections[resource].delete(find(collections[resource], command));
  const { eventName } = resources[resource];
  if (command.event && eventName !== null && platform.deletionEvents.includes(resource)) {
    const eventId = createHash('sha256')
      .update(`${name}/${id}/${at}/${events.length}`)
      .digest('hex')
      .slice(0, 24);
    events.push({ id: `evt-${eventId}`, resource: eventName, recordId: id, at });
  }
  return { id };
}

function recreateRecord(collection: Collection, command: CommandOf<'recreate'>, at: number): CommandResult {
  const record = collection.deleted(command.id);
  if (record === null) throw new CommandError(`No deleted ${command.resource} record ${command.id}.`);
  writeTouched(collection, record, at);
  return { id: record.id };
}

function addRecord(collection: Collection, command: CommandOf<'add'>, at: number): CommandResult {
  const id = readRecordId(command.record);
  const replaced = collection.get(id) !== null;
  if (command.keepLastSyncedAt) {
    writeVerbatim(collection, command.record, at);
  } else {
    const members = splitMembers(command.record);
    writeSynced(collection, command.resource, { id, members, platformData: null }, at);
  }
  return { id, ...(replaced && { replaced }) };
}

function setClock(world: World, command: CommandOf<'set-clock'>, at: number): CommandResult {
  for (const { arrival } of world.connections.values()) arrival.reachedAt = Math.max(arrival.reachedAt, at);
  world.clock.set(command);
  return {};
}

function find(collection: Collection, target: { resource: ResourceName; id: string }): StoredRecord {
  const record = collection.get(target.id);
  if (record === null) throw new CommandError(`No ${target.resource} record ${target.id}.`);
  return record;
}

function findCollection(world: World, target: { connection: string; resource: ResourceName }): Collection {
  return world.connectionNamed(target.connection).collections[target.resource];
}

export interface CommandResult {
  readonly id?: string;
  /** True if a record with this ID existed before. */
  readonly replaced?: boolean;
  readonly count?: number;
  readonly accessToken?: string;
}
