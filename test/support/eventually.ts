import { setTimeout as wait } from 'node:timers/promises';

const patienceSeconds = 300;

/**
 * Repeats `attempt` until it neither throws nor returns undefined, as long as any number of recoveries may take on a busy
 * machine; then its last error is thrown.
 */
export async function eventually<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + patienceSeconds * 1_000;
  for (;;) {
    try {
      const result = await attempt();
      if (result !== undefined) return result;
      if (Date.now() > deadline)
        throw new Error(`What was waited for did not happen within ${patienceSeconds} s.`);
    } catch (error) {
      if (Date.now() > deadline) throw error;
    }
    await wait(50);
  }
}
