import { eventually } from '../embedded/eventually.ts';

/** For what comes after any number of recoveries on a busy machine. */
export function inTheEnd<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  return eventually(attempt, 300);
}
