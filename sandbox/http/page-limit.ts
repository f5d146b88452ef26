import { ApiError } from '../api/api-error.ts';
import type { Parameters } from '../api/parameters.ts';
import type { Settings } from '../api/settings.ts';

/**
 * Returns the maximum number of records of a page (section 8; for lists other than items and events the numbers are assumed).
 *
 * @throws ApiError 400 for a limit below 1 and, depending on the settings, for one above the maximum.
 */
export function pageLimit(parameters: Parameters, settings: Settings, defaultLimit: number): number {
  const asked = parameters.integer('limit');
  const limit = asked ?? defaultLimit;
  if (limit < 1) throw new ApiError(400, 'INVALID_PARAMETER', 'The parameter limit must be at least 1.');
  if (asked !== null && asked > settings.maximumLimit && settings.aboveMaximum === 'refuse') {
    throw new ApiError(
      400,
      'INVALID_PARAMETER',
      `The parameter limit must be at most ${settings.maximumLimit}.`,
    );
  }
  return Math.min(limit, settings.maximumLimit);
}
