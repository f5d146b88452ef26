import { setTimeout as wait } from 'node:timers/promises';

/** Repeats `attempt` until it returns something, for as long as a build may take on a busy machine. What it throws ends it. */
export async function until<T>(attempt: () => Promise<T | undefined>): Promise<T> {
  const deadline = Date.now() + 110_000;
  for (;;) {
    const result = await attempt();
    if (result !== undefined) return result;
    if (Date.now() > deadline) throw new Error('What was waited for did not happen within 110 s.');
    await wait(100);
  }
}
