import type { ActivitiesOf } from '../activities/index.ts';

/** What is known of an attempt that failed. */
interface FailedAttempt {
  readonly activityType: string;
  readonly attempt: number;
  /** Of a tick, which is one run of a schedule. */
  readonly workflowId: string;
}

/**
 * Says when an activity that failed is tried again, in milliseconds; undefined: when its retry policy says. Ticks of schedules come
 * for as long as Postgres is away, so each waits for about two thirds of the time that it has failed for: up to 20 s, so that work goes on
 * soon after a fault ends, and longer the more ticks fail beside it. Ten thousand that try every 20 s would be 500 attempts a second.
 */
export function createRetryDelays(
  now: () => number = Date.now,
): (failed: FailedAttempt) => number | undefined {
  /** When each tick failed last, the longest ago first. */
  const failing = new Map<string, number>();
  return ({ activityType, attempt, workflowId }) => {
    if (activityType !== startScheduled) return undefined;
    failing.delete(workflowId);
    failing.set(workflowId, now());
    for (const [tick, failedAt] of failing) {
      if (now() - failedAt <= 1.5 * mostMilliseconds) break;
      failing.delete(tick);
    }
    const most = Math.min(Math.max(failing.size * millisecondsEach, leastMost), mostMilliseconds);
    const delay = Math.min(5_000 * 1.6 ** (attempt - 1), most);
    return Math.round(delay * (0.8 + 0.4 * Math.random()));
  };
}

const startScheduled: keyof ActivitiesOf<'starting'> = 'startScheduled';
const leastMost = 20_000;
const mostMilliseconds = 300_000;
/** 33 attempts a second, however many ticks fail, until each waits for the longest. */
const millisecondsEach = 30;
