import { ApiError } from './api-error.ts';

/** Returns the 404 for what the platform of the connection does not support (section 7). */
export function unsupported(what: string): ApiError {
  return new ApiError(404, 'NOT_SUPPORTED', `The platform of this connection does not support ${what}.`);
}
