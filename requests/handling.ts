import { isOurs } from '../errors/is-ours.ts';

export type Handling = 'retry' | 'wait' | 'stop';

/**
 * What to do about an error: our own classes say it of themselves; anything else (a database that is gone, a defect) is
 * tried again.
 */
export function handlingOf(error: unknown): Handling {
  if (typeof error !== 'object' || error === null || !('handling' in error)) return 'retry';
  return error.handling === 'stop' || error.handling === 'wait' ? error.handling : 'retry';
}

/** Whether a reading that met it begins again, without its cursor. */
export function isRestart(error: unknown): error is Error {
  return isOurs(error) && error.handling === 'restart';
}
