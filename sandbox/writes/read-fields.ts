import * as z from 'zod';
import { ApiError } from '../api/api-error.ts';
import { fromVersion } from '../api/api-version.ts';
import type { DataRequest } from '../api/data-request.ts';
import type { Connection } from '../world/connection.ts';
import { invalidBody } from './read-body.ts';
import { recordFields } from './record-fields.ts';
import type { Field, WritableResource } from './record-fields.ts';

/**
 * Reads the fields that a client writes, in the record's own shape and with every digit as written. Members that the record does not
 * have, or that only the service writes, are ignored or refused, depending on the settings.
 *
 * @throws ApiError 400 that says what is wrong.
 */
export function readFields(
  request: DataRequest<Connection>,
  resource: WritableResource,
  sent: Sent,
): Map<string, string> {
  const fields = recordFields[resource];
  const members = fromVersion(request.version, resource, sent.members);
  const written = new Map<string, string>();
  for (const [name, json] of members) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field?.schema === undefined) refuseOther(request, name);
    else written.set(name, readField(field, name, json));
  }
  if (sent.complete && request.settings.requiredFields) refuseMissing(fields, written);
  return written;
}

function refuseOther({ settings }: DataRequest<Connection>, name: string): void {
  if (settings.otherFields === 'refuse')
    throw new ApiError(400, 'INVALID_BODY', `The body is not valid: ${name} cannot be written.`);
}

function readField({ schema = z.unknown(), normal }: Field, name: string, json: string): string {
  const parsed = schema.safeParse(JSON.parse(json));
  if (!parsed.success) throw invalidBody(parsed.error, [name]);
  return normal === undefined ? json : normal(json);
}

function refuseMissing(fields: Readonly<Record<string, Field>>, written: ReadonlyMap<string, string>): void {
  const missing = Object.entries(fields).filter(
    ([name, { required }]) => required === true && ['null', '""', '[]'].includes(written.get(name) ?? 'null'),
  );
  if (missing.length > 0) {
    const names = missing.map(([name]) => name).join(', ');
    throw new ApiError(400, 'INVALID_BODY', `The body is not valid: ${names} must be given.`);
  }
}

interface Sent {
  readonly members: ReadonlyMap<string, string>;
  /** True for a whole new record, false for some fields of one. */
  readonly complete: boolean;
}
