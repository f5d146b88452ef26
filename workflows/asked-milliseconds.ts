import type { Wait } from '../requests/wait.ts';

/**
 * How long the service asked to be left alone; null when it did not say. Of a worker of 0.5.0 there is only a time by that
 * worker's clock, which may be wrong by hours: no service asks for more than an hour.
 */
export function askedMilliseconds({ milliseconds, notBefore }: Wait): number | null {
  if (milliseconds !== undefined) return milliseconds;
  return notBefore === null ? null : Math.min(notBefore - Date.now(), 3_600_000);
}
