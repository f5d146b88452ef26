import { setTimeout as wait } from 'node:timers/promises';

/** Repeats `attempt` until it neither throws nor returns undefined, for so many seconds at most; then its last error is thrown. */
export async function eventually<T>(attempt: () => Promise<T | undefined>, seconds = 30): Promise<T> {
  const deadline = Date.now() + seconds * 1_000;
  for (;;) {
    try {
      const result = await attempt();
      if (result !== undefined) return result;
      if (Date.now() > deadline) throw new Error(`What was waited for did not happen within ${seconds} s.`);
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await wait(50);
  }
}
