import { eventually } from '../embedded/eventually.ts';

/** As `eventually`, for what comes after any number of recoveries on a busy machine: five minutes. */
export async function inTheEnd<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  for (let left = 9; ; left--) {
    try {
      return await eventually(attempt);
    } catch (error) {
      if (left === 0) throw error;
    }
  }
}
