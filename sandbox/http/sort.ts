import { ApiError } from '../api/api-error.ts';
import type { Parameters } from '../api/parameters.ts';
import type { SortField } from '../world/stored-record.ts';

/**
 * Reads the order of section 4.1: `<field> ASC` or `<field> DESC`, ascending without a direction, `updated_at DESC` without a
 * `sort`. Records without `updated_at` come first in ascending order and last in descending order.
 *
 * @throws ApiError 400
 */
export function readSort(parameters: Parameters): Sort {
  const text = parameters.text('sort');
  if (text === null) return { field: 'updated_at', descending: true };
  const match = /^(updated_at|last_synced_at)(?: (ASC|DESC))?$/.exec(text);
  if (match === null) {
    throw new ApiError(
      400,
      'INVALID_PARAMETER',
      'The parameter sort must be updated_at or last_synced_at with ASC or DESC.',
    );
  }
  return {
    field: match[1] === 'updated_at' ? 'updated_at' : 'last_synced_at',
    descending: match[2] === 'DESC',
  };
}

export interface Sort {
  readonly field: SortField;
  readonly descending: boolean;
}
