import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { retryWithDeadline } from '../../requests/retry-with-deadline.ts';

test('an aborted request is not retried, and throws the reason of the signal at once', async () => {
  const aborted = new AbortController();
  let asked = 0;
  const ask = async (): Promise<void> => {
    asked += 1;
    await pause(60_000, undefined, { signal: aborted.signal });
  };
  const ended = retryWithDeadline(ask, aborted.signal);
  aborted.abort(new Error('the run was cancelled'));
  await expect(ended).rejects.toThrow('the run was cancelled');
  expect(asked).toBe(1);
});
