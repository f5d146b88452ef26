import { joinMembers, splitMembers } from '../json/members.ts';
import type { ResourceName } from './resources.ts';
import { ApiError } from './api-error.ts';

/**
 * Section 9. Without the header, the older version is served.
 *
 * @throws ApiError 400 for a version that is not served.
 */
export function readVersion(header: string | string[] | undefined): ApiVersion {
  if (header === undefined) return '2023-02-07';
  if (header === '2023-03-14' || header === '2023-02-07') return header;
  throw new ApiError(
    400,
    'INVALID_VERSION',
    'The header X-Service-Version must be 2023-03-14 or 2023-02-07.',
  );
}

/** Returns a record as a version shows it: 2023-02-07 writes a bill's `amount_due` as text, and calls its `currency_code` `currency`. */
export function inVersion(version: ApiVersion, resource: ResourceName, text: string): string {
  if (version === '2023-03-14' || resource !== 'bills') return text;
  const members = new Map<string, string>();
  for (const [name, value] of splitMembers(text)) {
    if (name === 'currency_code') members.set('currency', value);
    else members.set(name, name === 'amount_due' && /^[-\d]/.test(value) ? `"${value}"` : value);
  }
  return joinMembers(members);
}

/** The inverse of `inVersion`, for the members of a record that a client writes. */
export function fromVersion(
  version: ApiVersion,
  resource: ResourceName,
  members: ReadonlyMap<string, string>,
): Map<string, string> {
  const older = version === '2023-02-07' && resource === 'bills';
  return new Map(
    [...members].map(([name, value]) => [older && name === 'currency' ? 'currency_code' : name, value]),
  );
}

export type ApiVersion = '2023-03-14' | '2023-02-07';
