import type { ActivitiesOf } from '../activities/index.ts';

/**
 * When an activity that failed is tried again, in milliseconds; undefined: when its retry policy says. Ticks of schedules come for as long as
 * Postgres is away: ten thousand connections that try every 20 s would be 500 attempts a second. So each waits for about
 * two thirds of the time that it has failed for, up to 5 minutes, and no two for the same.
 */
export function retryDelayOf({
  activityType,
  attempt,
}: {
  activityType: string;
  attempt: number;
}): number | undefined {
  if (activityType !== startScheduled) return undefined;
  const delay = Math.min(5_000 * 1.6 ** (attempt - 1), 300_000);
  return Math.round(delay * (0.8 + 0.4 * Math.random()));
}

const startScheduled: keyof ActivitiesOf<'starting'> = 'startScheduled';
