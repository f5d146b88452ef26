import type { Wait } from '../requests/wait.ts';

/**
 * Returns the pause that the service asked for; null if it did not say. A worker of 0.5.0 passes only a time by its own clock, which may be
 * wrong by hours: no service asks for more than an hour.
 */
export function askedMilliseconds({ milliseconds, notBefore }: Wait): number | null {
  if (milliseconds !== undefined) return milliseconds;
  return notBefore === null ? null : Math.min(notBefore - Date.now(), 3_600_000);
}
