import { setTimeout as pause } from 'node:timers/promises';
import type { ApiClient } from '../source/api-client.ts';
import { handlingOf } from './handling.ts';
import { waitOf } from './wait.ts';

/** The longest that a person at a terminal should wait for one response. */
const deadlineMilliseconds = 60_000;
const pauseMilliseconds = 2_000;

/**
 * Retries for a minute while the error says that this may help: for requests outside of Temporal, which retries activities. Throws the last
 * error; an abort rejects with the signal's reason.
 */
export async function retryWithDeadline<Answer>(
  ask: () => Promise<Answer>,
  signal: AbortSignal | undefined,
): Promise<Answer> {
  const started = performance.now();
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      signal?.throwIfAborted();
      if (handlingOf(error) === 'stop') throw error;
      const milliseconds = Math.max(waitOf(error)?.milliseconds ?? 0, pauseMilliseconds);
      if (performance.now() - started + milliseconds > deadlineMilliseconds) throw error;
      await pause(milliseconds, undefined, { signal }).catch(() => signal?.throwIfAborted());
    }
  }
}

/** The client's fetch with these retries. */
export function retryingFetch(api: ApiClient): Pick<ApiClient, 'fetch'> {
  return { fetch: (request) => retryWithDeadline(() => api.fetch(request), request.signal) };
}
