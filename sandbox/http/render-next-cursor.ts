import type { Settings } from '../api/settings.ts';
import type { Place } from '../world/stored-record.ts';
import { encodeCursor } from './cursor.ts';

/** Returns the `next_cursor` member of a list, with its comma. The document describes several ways to say that there is none. */
export function renderNextCursor(next: Place | null, settings: Settings): string {
  if (next !== null) return `,"next_cursor":"${encodeCursor(next, settings)}"`;
  return { null: ',"next_cursor":null', absent: '', empty: ',"next_cursor":""' }[settings.lastCursor];
}
