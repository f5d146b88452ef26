import { setTimeout as wait } from 'node:timers/promises';

/**
 * Repeats `attempt` until it neither throws nor returns undefined. After `seconds` it throws the last error. The default is the longest
 * that a user would wait, on a busy machine.
 */
export async function eventually<T>(attempt: () => Promise<T | undefined>, seconds = 30): Promise<T> {
  const deadline = Date.now() + seconds * 1_000;
  for (;;) {
    try {
      const result = await attempt();
      if (result !== undefined) return result;
      if (Date.now() > deadline) throw new Error(`The condition was not met within ${seconds} s.`);
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await wait(50);
  }
}

/** For what follows a build by dbt or any number of recoveries: waits up to 300 s. */
export function withinFiveMinutes<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  return eventually(attempt, 300);
}
