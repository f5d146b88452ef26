import { expect, test } from 'vitest';
import { createRetryDelays } from '../../worker/retry-delay.ts';

const activityType = 'startScheduled';

test('retries of a failed tick start within 6 s, slow down to about 20 s, and are spread over time', () => {
  const delayOf = createRetryDelays();
  const delays = (attempt: number): number[] =>
    Array.from({ length: 200 }, (_, n) => delayOf({ activityType, attempt, workflowId: `tick-${n}` }) ?? 0);
  expect(Math.max(...delays(1))).toBeLessThanOrEqual(6_000);
  expect(Math.min(...delays(12))).toBeGreaterThanOrEqual(16_000);
  expect(Math.max(...delays(1_000))).toBeLessThanOrEqual(24_000);
  expect(new Set(delays(6)).size).toBeGreaterThan(50);
});

test('10,000 connections without Postgres for half an hour retry less than 200 times in any second', () => {
  let second = 0;
  const delayOf = createRetryDelays(() => second * 1_000);
  // The attempts due in each second: every connection has a tick in a quarter of an hour, and retries until it succeeds.
  const due = Array.from({ length: 1_800 }, (): { workflowId: string; attempt: number }[] => []);
  for (let n = 0; n < 10_000; n += 1)
    due[Math.floor(n * 0.09)]?.push({ workflowId: `tick-${n}`, attempt: 1 });
  for (const tries of due) {
    expect(tries.length, `in second ${second}`).toBeLessThan(200);
    for (const { workflowId, attempt } of tries) {
      const delay = delayOf({ activityType, attempt, workflowId }) ?? 0;
      due[second + Math.max(1, Math.round(delay / 1_000))]?.push({ workflowId, attempt: attempt + 1 });
    }
    second += 1;
  }
});

test('failures of an hour ago delay no retry', () => {
  let now = 0;
  const delayOf = createRetryDelays(() => now);
  for (let n = 0; n < 10_000; n += 1) delayOf({ activityType, attempt: 1, workflowId: `tick-${n}` });
  now = 3_600_000;
  expect(delayOf({ activityType, attempt: 50, workflowId: 'another' })).toBeLessThanOrEqual(24_000);
});

test('an activity other than a tick is retried by its own policy', () => {
  expect(
    createRetryDelays()({ activityType: 'readStream', attempt: 3, workflowId: 'sync/a' }),
  ).toBeUndefined();
});
