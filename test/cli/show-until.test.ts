import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { showUntil } from '../../cli/show-progress.ts';

test('a failure that occurs while progress is being read is thrown, not left as an unhandled rejection', async () => {
  const ended = Promise.reject(new Error('Temporal is gone'));
  const read = (): Promise<void> => pause(50);
  await expect(showUntil(ended, read, () => '')).rejects.toThrow('Temporal is gone');
});
