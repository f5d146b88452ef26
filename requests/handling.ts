import type { Handling } from '../errors/handling.ts';
import { isOurs } from '../errors/is-ours.ts';

/**
 * Returns how to handle an error: our own classes say it themselves; any other error (the database is away, a defect) is
 * retried. So is one that says `restart`: whoever reads a stream asks `isRestart` first.
 */
export function handlingOf(error: unknown): Exclude<Handling, 'restart'> {
  if (typeof error !== 'object' || error === null || !('handling' in error)) return 'retry';
  return error.handling === 'stop' || error.handling === 'wait' ? error.handling : 'retry';
}

/** Whether the reading must begin again without its cursor after this error. */
export function isRestart(error: unknown): error is Error {
  return isOurs(error) && error.handling === 'restart';
}
