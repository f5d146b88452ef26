import { ApiError } from '../api/api-error.ts';
import type { Settings } from '../api/settings.ts';
import type { Place } from '../world/stored-record.ts';

/** Section 4.8: a cursor is built from the timestamp and the ID of the next record. */
export function encodeCursor({ time, id }: Place, { cursorMark }: Settings): string {
  const mark = cursorMark === '' ? {} : { mark: cursorMark };
  return Buffer.from(JSON.stringify({ t: time, id, ...mark })).toString('base64');
}

/** @throws ApiError 400 for a text that `encodeCursor` did not make, and `foreignCursorStatus` for a cursor with another mark. */
export function decodeCursor(cursor: string, { cursorMark, foreignCursorStatus }: Settings): Place {
  const value = parse(Buffer.from(cursor, 'base64').toString('utf8'));
  if (typeof value === 'object' && value !== null && 't' in value && 'id' in value) {
    const { t, id } = value;
    const mark = 'mark' in value ? value.mark : '';
    if (mark !== cursorMark)
      throw new ApiError(foreignCursorStatus, 'INVALID_CURSOR', 'The cursor is from another time.');
    if ((t === null || typeof t === 'number') && typeof id === 'string') return { time: t, id };
  }
  throw new ApiError(400, 'INVALID_CURSOR', 'The cursor is not one of ours: start without one.');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return null;
    throw error;
  }
}
