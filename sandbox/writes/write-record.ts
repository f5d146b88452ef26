import { randomUUID } from 'node:crypto';
import { ApiError } from '../api/api-error.ts';
import { inVersion } from '../api/api-version.ts';
import type { DataRequest } from '../api/data-request.ts';
import { resources } from '../api/resources.ts';
import { splitElements } from '../json/elements.ts';
import { joinMembers, splitMembers } from '../json/members.ts';
import type { Connection } from '../world/connection.ts';
import { balanceBill } from './balance-bill.ts';
import { balanceMemo } from './balance-memo.ts';
import { recordFields } from './record-fields.ts';
import type { Created, WritableResource } from './record-fields.ts';
import type { WriteService } from './write-service.ts';

/**
 * Creates a record as the platform and a sync right after would: with its own IDs and times, and amounts that add up.
 * Returns the answer.
 *
 * @throws PlatformRefusal
 */
export function createRecord(
  service: WriteService,
  request: DataRequest<Connection>,
  resource: WritableResource,
  written: ReadonlyMap<string, string>,
): string {
  const { connection } = request;
  const created = createdNow(service.world.clock.now(), connection.platform.homeCurrency);
  const values =
    resource === 'bills'
      ? balanceBill(new Map(), written)
      : resource === 'bill_credit_memos'
        ? balanceMemo(written)
        : written;
  const record = new Map<string, string>();
  for (const [name, { initial, hidden }] of Object.entries(recordFields[resource])) {
    const value = values.get(name) ?? (typeof initial === 'function' ? initial(created) : initial);
    if (value !== undefined && hidden !== true) record.set(name, value);
  }
  service.execute({
    kind: 'add',
    connection: connection.name,
    resource,
    record: joinMembers(record),
    keepLastSyncedAt: false,
  });
  return renderWritten(request, resource, created.id);
}

/**
 * Updates a record: written fields get new values, the others keep theirs (4.1). Returns the answer.
 *
 * @throws ApiError 410, PlatformRefusal
 */
export function updateRecord(
  service: WriteService,
  request: DataRequest<Connection>,
  resource: WritableResource,
  { id, written }: { id: string; written: ReadonlyMap<string, string> },
): string {
  const { connection, settings } = request;
  const { singular } = resources[resource];
  const record = connection.collections[resource].get(id);
  if (record === null)
    throw new ApiError(settings.missingRecordStatus, 'NOT_FOUND', `There is no ${singular} with this ID.`);
  const before = splitMembers(connection.collections[resource].text(record));
  const values = resource === 'bills' ? balanceBill(before, written) : written;
  const shown = [...values].filter(([name]) => recordFields[resource][name]?.hidden !== true);
  const patch = joinMembers(new Map(shown));
  service.execute({ kind: 'change', connection: connection.name, resource, id, patch, remove: [] });
  return renderWritten(request, resource, id);
}

/**
 * Deletes a record. If there is none, the body says so. A bill with an applied credit is not deleted, because its memo would
 * refer to a bill that does not exist.
 */
export function deleteRecord(
  service: WriteService,
  { connection }: DataRequest<Connection>,
  resource: WritableResource,
  id: string,
): string {
  const collection = connection.collections[resource];
  const record = collection.get(id);
  const code =
    record === null ? 'not_found' : isCredited(collection.text(record)) ? 'has_credits' : 'deleted';
  const success = code === 'deleted';
  if (success) {
    const command = { kind: 'delete', connection: connection.name, resource, id } as const;
    service.execute({ ...command, event: true, byService: true });
  }
  return JSON.stringify({ [`deleted_${resources[resource].singular}`]: { code, success } });
}

function isCredited(text: string): boolean {
  return splitElements(splitMembers(text).get('linked_credit_memos') ?? '[]').length > 0;
}

function createdNow(now: number, homeCurrency: string): Created {
  const id = randomUUID();
  const time = new Date(now).toISOString();
  // Longer than the platform IDs of the first sync, so that it never equals one of them.
  const platformId = (BigInt(`0x${id.slice(0, 8)}${id.slice(9, 13)}`) + 10n ** 15n).toString();
  return { id, platformId, now: time, day: `${time.slice(0, 10)}T00:00:00.000Z`, homeCurrency };
}

function renderWritten(
  { connection, version }: DataRequest<Connection>,
  resource: WritableResource,
  id: string,
): string {
  const collection = connection.collections[resource];
  const record = collection.get(id);
  const text = record === null ? 'null' : inVersion(version, resource, collection.text(record));
  return `{"${resources[resource].singular}":${text}}`;
}
