import { expect, test } from 'vitest';
import { checkedConnection, checkedReason, checkedRun } from '../../activities/checked-run.ts';
import { handlingOf } from '../../requests/handling.ts';
import { backfillPlan } from '../../warehouse/passes/backfill-plan.ts';

test.each([
  ['no text', '{"connection":{"a":1},"reason":"x"}'],
  ['nothing', '{"reason":"x"}'],
  ['a name that cannot be added', '{"connection":"Acme\\u0000","reason":"x"}'],
  ['a name of a megabyte', JSON.stringify({ connection: 'a'.repeat(1_000_000), reason: 'x' })],
  ['one without a reason', '{"connection":"acme-us"}'],
])('a run requested straight from Temporal with %s for its input ends at once', (_, input) => {
  const error: unknown = (() => {
    try {
      return checkedRun(JSON.parse(input) as { connection: string; reason: string });
    } catch (error) {
      return error;
    }
  })();
  expect(error).toMatchObject({ name: 'UnknownConnection' });
  expect(handlingOf(error)).toBe('stop');
  expect(String(error).length).toBeLessThan(200);
});

test("a run's reason is cut to 200 characters that Postgres can store", () => {
  const run = { connection: 'acme-us', reason: `by\u0000 hand${'x'.repeat(1_000)}`, runId: 'r' };
  const { reason, ...rest } = checkedRun(run);
  expect(rest).toEqual({ connection: 'acme-us', runId: 'r' });
  expect(reason).toHaveLength(200);
  expect(reason).toMatch(/^by handx+$/);
});

test('a reason without a connection is cut likewise, and a lone connection name is checked', () => {
  expect(checkedReason(`a\u0000b${'x'.repeat(1_000_000)}`)).toMatch(/^abx{198}$/);
  expect(checkedConnection('acme-us')).toBe('acme-us');
  expect(() => checkedConnection('a\u0000b')).toThrow(
    'The input names no known connection, or gives no reason.',
  );
});

test.each([1e300, 1e16, 0.5, -1])('a backfill with windows of %d milliseconds ends at once', (window) => {
  const dates = { from: '2026-01-01', to: '2026-02-01' };
  expect(() => backfillPlan({ ...dates, windowMilliseconds: window })).toThrow('from an hour to 100 years');
});
