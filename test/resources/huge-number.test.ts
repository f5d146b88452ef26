import { expect, test } from 'vitest';
import { bills } from '../../resources/bills.ts';
import { recordCheckOf } from '../../resources/record-check.ts';
import {
  expandingNumbers,
  hasHugeNumber,
  hugeNumber,
  problemOfNumbers,
} from '../../resources/huge-number.ts';

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
])('a number is huge with more than 90,000 digits before the point: %s', (_what, text, isHuge) => {
  expect(() => void JSON.parse(text)).not.toThrow();
  expect(hasHugeNumber(text)).toBe(isHuge);
});

const many = (number: string, count: number): string => `[${Array(count).fill(number).join(',')}]`;

test.each([
  ['one of 90,000 digits by its exponent', '[1e89999]', expandingNumbers],
  ['of 5,000', many('1e5005', 100), undefined],
  ['of one more', '[1e5006]', expandingNumbers],
  ['those that are small', many('-1e-5000', 100), undefined],
  ['smaller', '[-1E-5010]', expandingNumbers],
  ['exponents of three digits', many('1.5e999', 1_008), expandingNumbers],
  ['exponents of two digits, up to the limit', many('1E+50', 21_739), undefined],
  ['one more', many('1E+50', 21_740), expandingNumbers],
  ['doubles as programs write them', many('1.2345e-7', 100_000), undefined],
  ['exponents that only move the point', many(`${'1'.repeat(50)}.5e-49`, 100_000), undefined],
  ['all digits written', many('9'.repeat(100), 100_000), undefined],
  ['what Postgres refuses, and says so', many('1e200000', 100) + many('1e-20000', 100), undefined],
  ['texts', many('"1e89999"', 1_000) + many('"x\\", 1e89999"', 1_000), undefined],
  ['behind texts, with spaces', `{"a" : ["\\\\", ${many(' 1e89999 ', 1)}]}`, expandingNumbers],
  ['one that is huge, behind others', `[${many('1e4000', 11)},1e90000]`, hugeNumber],
])('numbers are refused if their exponents stand for too many digits: %s', (_what, text, problem) => {
  expect(problemOfNumbers(text)).toBe(problem);
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
])('a decimal in a string is held to the same limit of digits', (currency_rate, reason) => {
  const record = { id: 'b', last_synced_at: '2024-01-01T00:00:00Z', currency_rate };
  expect(recordCheckOf(bills)(record)).toBe(reason);
});

test('a search of millions of digits for huge numbers takes less than 5 seconds', () => {
  const started = performance.now();
  expect(hasHugeNumber(`[${'12345 '.repeat(1_000_000).trim().replaceAll(' ', ',')}]`)).toBe(false);
  expect(hasHugeNumber(`["${'\\"1e99999'.repeat(1_000_000)}"]`)).toBe(false);
  expect(problemOfNumbers(many('1e2', 1_000_000))).toBe(undefined);
  expect(problemOfNumbers(`["${',1.1'.repeat(2_000_000)}"]`)).toBe(undefined);
  expect(performance.now() - started).toBeLessThan(5_000);
});
