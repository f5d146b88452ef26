import { describe, expect, test } from 'vitest';
import { beginsWithDay, microsecondsOf } from '../../resources/instant.ts';

const newYear = Date.parse('2024-01-01T00:00:00Z') * 1000;

describe('an ISO 8601 text is a moment, to the microsecond, and begins with a day', () => {
  test.each([
    ['2024-01-01', 0],
    ['2024-01-01T00:00', 0],
    ['2024-01-01T00:00:00', 0],
    ['2024-01-01T00:00:00Z', 0],
    ['2024-01-01t00:00:00z', 0],
    ['2024-01-01 00:00:00+00', 0],
    ['2024-01-01T02:00:00+02:00', 0],
    ['2024-01-01T02:00:00+0200', 0],
    ['2023-12-31T16:00:00-08', 0],
    ['2024-01-01T00:00:00.1Z', 100_000],
    ['2024-01-01T15:59:00+15:59', 0],
    ['2024-01-01T00:00:00.000001Z', 1],
    ['2024-01-01T00:00:00.123456789Z', 123_457],
  ])('%s', (text, microseconds) => {
    expect(microsecondsOf(text)).toBe(newYear + microseconds);
    expect(beginsWithDay(text)).toBe(true);
  });
});

test('neighboring microseconds are distinct moments', () => {
  const earlier = microsecondsOf('2024-06-30T23:59:59.999998Z') ?? NaN;
  expect(microsecondsOf('2024-06-30T23:59:59.999999Z')).toBe(earlier + 1);
});

test.each([
  ['nothing', ''],
  ['words', 'yesterday'],
  ['a number', '1704067200'],
  ['30 February', '2024-02-30'],
  ['29 February of no leap year', '2023-02-29T00:00:00Z'],
  ['29 February of 1900', '1900-02-29'],
  ['the month 13', '2024-13-01'],
  ['the day 0', '2024-01-00'],
  ['the year 0', '0000-01-01'],
  ['the hour 25', '2024-01-01T25:00:00Z'],
  ['half a second after the end of the day', '2024-01-01T24:00:00.5Z'],
  ['the minute 60', '2024-01-01T00:60:00Z'],
  ['another order', '01/02/2024'],
  ['a time alone', '12:00:00'],
  ['an offset that Postgres does not know', '2024-01-01T00:00:00+16:00'],
  ['a fraction behind a comma', '2024-01-01T00:00:00,123Z'],
  ['a fraction of a minute', '2024-01-01T00:00.5Z'],
  ['something behind it', '2024-01-01T00:00:00Z maybe'],
])('%s is not a moment', (_, text) => {
  expect(microsecondsOf(text)).toBeUndefined();
});

test.each([
  ['2024-02-29', true],
  ['2000-02-29T00:00:00Z', true],
  ['2024-01-31 whatever follows', true],
  ['2024-01-31T25:99', true],
  ['2024-01-31t00:00:00z', true],
  ['2100-02-29', false],
  ['2024-04-31', false],
  ['2024-01-311', false],
  ['31.01.2024', false],
  ['', false],
])('"%s" begins with a day of the calendar: %s', (text, begins) => {
  expect(beginsWithDay(text)).toBe(begins);
});
