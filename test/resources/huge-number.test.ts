import { expect, test } from 'vitest';
import { bills } from '../../resources/bills.ts';
import { recordCheckOf } from '../../resources/record-check.ts';
import { hasHugeNumber } from '../../resources/huge-number.ts';

test.each([
  ['digits up to the limit', `{"a":${'9'.repeat(90_000)}}`, false],
  ['one more', `{"a":-${'9'.repeat(90_001)}.5}`, true],
  ['an exponent up to the limit', '{"a":1e89999}', false],
  ['one more', '[1E+90000]', true],
  ['both together', `{"a":${'9'.repeat(50_000)}e40001}`, true],
  ['digits behind the point', `{"a":0.${'9'.repeat(100_000)}}`, false],
  ['an exponent that makes it small', '{"a":1e-99999}', false],
  ['a text', `{"id":"1e99999","b":"\\"1e99999","c":"${'9'.repeat(100_000)}\\\\"}`, false],
  ['one behind a text', '{"id":"x\\\\","a":1e99999}', true],
])('%s', (_what, text, isHuge) => {
  expect(() => void JSON.parse(text)).not.toThrow();
  expect(hasHugeNumber(text)).toBe(isHuge);
});

test.each([
  ['9'.repeat(90_000), undefined],
  [
    '9'.repeat(131_072),
    'currency_rate has a number of more than 90,000 digits before the point, which cannot be summed up',
  ],
  [
    '-1E99999',
    'currency_rate has a number of more than 90,000 digits before the point, which cannot be summed up',
  ],
])('of a decimal that is told as text too', (currency_rate, reason) => {
  const record = { id: 'b', last_synced_at: '2024-01-01T00:00:00Z', currency_rate };
  expect(recordCheckOf(bills)(record)).toBe(reason);
});

test('a text of many digits is looked through once', () => {
  const started = performance.now();
  expect(hasHugeNumber(`[${'12345 '.repeat(1_000_000).trim().replaceAll(' ', ',')}]`)).toBe(false);
  expect(hasHugeNumber(`["${'\\"1e99999'.repeat(1_000_000)}"]`)).toBe(false);
  expect(performance.now() - started).toBeLessThan(5_000);
});
