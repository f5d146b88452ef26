import { createHash, timingSafeEqual } from 'node:crypto';
import { ApiError } from '../api/api-error.ts';

/**
 * Checks the organization's credentials, which every request carries (section 5.1).
 *
 * @throws ApiError 401
 */
export function authenticate(header: string | undefined, credentials: Credentials): void {
  const expected = `Basic ${Buffer.from(`${credentials.clientId}:${credentials.clientSecret}`).toString('base64')}`;
  if (!timingSafeEqual(digest(header ?? ''), digest(expected))) {
    throw new ApiError(
      401,
      'INVALID_CLIENT_CREDENTIALS',
      'The client ID or the client secret is missing or wrong.',
    );
  }
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

export interface Credentials {
  readonly clientId: string;
  readonly clientSecret: string;
}
