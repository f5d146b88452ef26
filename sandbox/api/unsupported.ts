import { ApiError } from './api-error.ts';

/** Section 7: what the platform of the connection cannot do is 404. */
export function unsupported(what: string): ApiError {
  return new ApiError(404, 'NOT_SUPPORTED', `The platform of this connection does not support ${what}.`);
}
