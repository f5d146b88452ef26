import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseDuration } from '../../config/duration.ts';
import { variables } from '../../config/variables.ts';

test.each([
  ['0s', 0],
  ['30s', 30_000],
  ['10m', 600_000],
  ['2h', 7_200_000],
  ['90d', 7_776_000_000],
  [' 15m ', 900_000],
])('%s is %i ms', (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds);
});

test.each(['', '10', 'm', '-1s', '1.5h', '10 m', '1w', '10ms', '1h30m', '10M', '1e3s', '٣s', '99999999999d'])(
  '"%s" is not a duration',
  (text) => {
    expect(parseDuration(text)).toBeUndefined();
  },
);

test('a count of any unit is exactly that many times the unit', () => {
  const unit = fc.constantFrom(['s', 1n], ['m', 60n], ['h', 3600n], ['d', 86_400n]);
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 999_999_999 }), unit, (count, [name, seconds]) => {
      expect(parseDuration(`${count}${name}`)).toBe(Number(BigInt(count) * seconds * 1000n));
    }),
  );
});

test('a duration variable allows at most a thousand years, unless it keeps history', () => {
  expect(variables.DAYBOOK_KEEP_RUNS.parse('365000d')).toBe(365_000 * 86_400_000);
  for (const name of [
    'DAYBOOK_KEEP_RUNS',
    'DAYBOOK_KEEP_QUIET_RUNS',
    'DAYBOOK_LOOKBACK',
    'DAYBOOK_GIVE_UP_AFTER',
  ] as const)
    expect(variables[name].safeParse('365001d').error?.issues[0]?.message).toBe('must be 365000d at most');
  expect(variables.DAYBOOK_KEEP_HISTORY.safeParse('9999999d').success).toBe(false);
});

test('parsing never throws, whatever the text', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      expect(['undefined', 'number']).toContain(typeof parseDuration(text));
    }),
  );
});
