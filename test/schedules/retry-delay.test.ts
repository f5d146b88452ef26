import { expect, test } from 'vitest';
import { retryDelayOf } from '../../worker/retry-delay.ts';

const delays = (attempt: number): number[] =>
  Array.from({ length: 200 }, () => retryDelayOf({ activityType: 'startScheduled', attempt }) ?? 0);

test('a tick that fails is tried again soon, then ever later up to 5 minutes, and not at once with all others', () => {
  expect(Math.max(...delays(1))).toBeLessThanOrEqual(6_000);
  expect(Math.max(...delays(4))).toBeLessThanOrEqual(25_000);
  expect(Math.min(...delays(12))).toBeGreaterThanOrEqual(240_000);
  expect(Math.max(...delays(1_000))).toBeLessThanOrEqual(360_000);
  expect(new Set(delays(6)).size).toBeGreaterThan(50);
});

test('ten thousand connections whose Postgres is away for 15 minutes try less than 120 times a second', () => {
  const attempts = (milliseconds: number): number => {
    let tries = 0;
    for (let passed = 0; passed < milliseconds; tries += 1) passed += delays(tries + 1)[0] ?? 0;
    return tries;
  };
  const connections = 10_000;
  const quarter = 900_000;
  const all = Array.from({ length: connections / 100 }, (_, n) =>
    attempts((quarter * (n + 1) * 100) / connections),
  );
  const perSecond = (all.reduce((sum, tries) => sum + tries, 0) * 100) / (quarter / 1_000);
  expect(perSecond).toBeLessThan(120);
});

test('any other activity is tried again by its policy', () => {
  expect(retryDelayOf({ activityType: 'readStream', attempt: 3 })).toBeUndefined();
});
