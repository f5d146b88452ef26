import type { ActivitiesOf } from '../activities/index.ts';

/** The known facts about a failed attempt. */
interface FailedAttempt {
  readonly activityType: string;
  readonly attempt: number;
  /** For a tick, the workflow of one firing of a schedule. */
  readonly workflowId: string;
}

/**
 * Returns the milliseconds until a failed activity is retried; undefined leaves it to the retry policy. Ticks of schedules keep coming while
 * Postgres is away, so each waits about two thirds of the time it has been failing. The limit of 20 s lets work resume soon after an outage; it
 * grows with the number of failing ticks, since ten thousand of them every 20 s would be 500 attempts a second.
 */
export function createRetryDelays(
  now: () => number = Date.now,
): (failed: FailedAttempt) => number | undefined {
  /** The last failure of each tick, oldest first. */
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
/** Allows 33 attempts a second however many ticks fail, until each waits for the longest delay. */
const millisecondsEach = 30;
