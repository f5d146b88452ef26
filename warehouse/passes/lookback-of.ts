import type { Listed } from './pass.ts';

/**
 * How far before its watermark a sync of a list begins: as far as the list may lag, and as the service may have put its clock back
 * without that being noticed.
 *
 * Where versions are the platform's times, an edit comes with a time that is as old as the service was late to copy it, and it looks
 * at most platforms once an hour or more seldom (API document 1): there a day at least.
 */
export function lookbackOf({ version }: Listed, lookbackMilliseconds: number): number {
  const lag = version === 'updated_at' ? Math.max(lookbackMilliseconds, aDay) : lookbackMilliseconds;
  return lag + clockTolerance(lookbackMilliseconds);
}

/** By how much the clocks of a service's servers may differ, and its `Date` has whole seconds. */
export function clockTolerance(lookbackMilliseconds: number): number {
  return Math.min(lookbackMilliseconds, aMinute) + 1_000;
}

export const aMinute = 60_000;
const aDay = 86_400_000;
