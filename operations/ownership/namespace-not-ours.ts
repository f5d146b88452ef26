import type { NotOurs } from './judge-ownership.ts';
import type { OwnerRecord } from './owner-record.ts';
import { databaseNameOf, type OwnershipPlaces } from './places.ts';

/** The namespace belongs to another warehouse or environment: this one must not act in it. */
export class NamespaceNotOurs extends Error {
  override readonly name = 'NamespaceNotOurs';
  readonly handling = 'stop';
  readonly isUsage = true;
}

/** Names the owner, and the remedy. */
export function notOurs(
  { settings }: Pick<OwnershipPlaces, 'settings'>,
  input: { why: NotOurs; record: OwnerRecord; warehouse: string },
): NamespaceNotOurs {
  const { why, record, warehouse } = input;
  const here = {
    other: `this one is warehouse ${short(warehouse)} (database ${databaseNameOf(settings)})`,
    environment: `this process runs with the API address ${settings.api.address}`,
    copy: `this one (database ${databaseNameOf(settings)}) is a copy of it`,
    older: `this one (database ${databaseNameOf(settings)}) is another state of it: a restored backup, a copy, or the original of a copy`,
  }[why];
  return new NamespaceNotOurs(
    `${namespaceInWords(settings)} belongs to ${ownerInWords(record)}, and ${here}: ${remedy}`,
  );
}

/** Before 0.6.0 a namespace had no owner record, but schedules name their warehouse. */
export function ofOtherSchedules(
  { settings }: Pick<OwnershipPlaces, 'settings'>,
  { scheduleIds, warehouse }: { scheduleIds: readonly string[]; warehouse: string },
): NamespaceNotOurs {
  const [first = '', ...others] = scheduleIds;
  const schedules = others.length === 0 ? first : `${first} and ${others.length} more`;
  return new NamespaceNotOurs(
    `${namespaceInWords(settings)} has schedules of another warehouse (${schedules}), and this one is warehouse ` +
      `${short(warehouse)} (database ${databaseNameOf(settings)}): ${remedy}`,
  );
}

export function ownerInWords({ warehouse, database, api, since }: OwnerRecord): string {
  return `warehouse ${short(warehouse)} (database ${database}, API ${api}) since ${since}`;
}

function namespaceInWords({ temporal }: OwnershipPlaces['settings']): string {
  return `Temporal's namespace ${temporal.namespace} at ${temporal.connection.address ?? ''}`;
}

/** A prefix that is long enough to tell warehouses apart. */
function short(warehouse: string): string {
  return warehouse.slice(0, 8);
}

const remedy =
  'set another TEMPORAL_NAMESPACE or TEMPORAL_ADDRESS, or, to replace it there, start a worker of this one once with ' +
  '"daybook worker --take-over" or "daybook up --take-over".';
