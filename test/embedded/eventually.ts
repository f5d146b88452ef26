import { setTimeout as wait } from 'node:timers/promises';

/** Repeats `attempt` until it neither throws nor returns undefined, for at most 30 s; then its last error is thrown. */
export async function eventually<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    try {
      const result = await attempt();
      if (result !== undefined) return result;
      if (Date.now() > deadline) throw new Error('What was waited for did not happen within 30 s.');
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await wait(50);
  }
}
