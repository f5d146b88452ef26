import type { Listed } from './pass.ts';

/**
 * Returns how far before its watermark a sync of a list begins: as far as the list may lag, and as the service may have set its clock back without
 * that being noticed.
 *
 * If versions are the platform's times, an edit arrives with a time as old as the service was late to copy it, and the service looks at most
 * platforms once an hour or less often (API document 1). The lag is then at least a day.
 */
export function lookbackOf({ version }: Listed, lookbackMilliseconds: number): number {
  const lag = version === 'updated_at' ? Math.max(lookbackMilliseconds, aDay) : lookbackMilliseconds;
  return lag + clockTolerance(lookbackMilliseconds);
}

/** Returns how far the clocks of a service's servers may differ, plus a second, because `Date` has whole seconds. */
export function clockTolerance(lookbackMilliseconds: number): number {
  return Math.min(lookbackMilliseconds, aMinute) + 1_000;
}

export const aMinute = 60_000;
const aDay = 86_400_000;
