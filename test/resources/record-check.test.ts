import { describe, expect, test } from 'vitest';
import { bills } from '../../resources/bills.ts';
import { customers } from '../../resources/customers.ts';
import { resources } from '../../resources/index.ts';
import { items } from '../../resources/items.ts';
import { recordCheckOf } from '../../resources/record-check.ts';
import { subscriptions } from '../../resources/subscriptions.ts';
import * as records from '../support/finance-records.ts';

describe('a record as the API document shows it can land', () => {
  test.each([
    ['bills', records.bill('1')],
    ['expenses', records.expense('1')],
    ['bill_credit_memos', records.billCreditMemo('1')],
    ['customers', records.customer('1')],
    ['items', records.item('1')],
    ['subscriptions', records.subscription('1')],
  ])('%s', (name, text) => {
    const resource = resources.find((candidate) => candidate.name === name);
    expect(resource && recordCheckOf(resource)(JSON.parse(text))).toBeUndefined();
  });
});

describe('a record needs an id and a version, and nothing else', () => {
  test.each(resources)('$name', (resource) => {
    const check = recordCheckOf(resource);
    expect(check({ id: '1', [resource.version]: '2024-01-01T00:00:00Z' })).toBeUndefined();
    expect(check({ id: '1' })).toBe(`${resource.version} is missing`);
    expect(check({ [resource.version]: '2024-01-01T00:00:00Z' })).toBe('id is missing');
    expect(check({ id: null, [resource.version]: null })).toBe(
      `id is null, not a text; ${resource.version} is null, not a time`,
    );
  });
});

test('a subscription may have a last_synced_at that is not a time', () => {
  const check = recordCheckOf(subscriptions);
  expect(check(JSON.parse(records.subscription('1', { last_synced_at: '"whatever"' })))).toBeUndefined();
});

test('every column but the id and the version may be null, and so may every list', () => {
  for (const resource of resources) {
    const nulls = [
      ...resource.columns.map(({ path: [root] }) => root),
      ...resource.children.map(({ from }) => from),
    ];
    const record = {
      ...Object.fromEntries(nulls.map((name) => [name, null])),
      id: '1',
      [resource.version]: '2024-01-01',
    };
    expect(recordCheckOf(resource)(record), resource.name).toBeUndefined();
  }
});

test('payment terms may be an ID or a list of IDs, as the API document says both', () => {
  const check = recordCheckOf(bills);
  const of = (terms: string): string | undefined =>
    check(JSON.parse(records.bill('1', { payment_terms_id: terms })));
  for (const terms of ['"a"', '""', 'null', '[]', '["a"]', '["a","b"]']) expect(of(terms)).toBeUndefined();
  expect(of('7')).toBe('payment_terms_id is a number, not a text or a list of texts');
  expect(of('["a",7]')).toBe('payment_terms_id is a list, not a text or a list of texts');
  const long = JSON.stringify('x'.repeat(2_001));
  expect(of(long)).toContain('payment_terms_id is longer than 2000 bytes');
  expect(of(`["a",${long}]`)).toContain('payment_terms_id is longer than 2000 bytes');
});

test('unknown fields and enum values are accepted', () => {
  const text = records.customer('1', { status: '"DORMANT"', loyalty: '{"tier":[1,"gold",null]}' });
  expect(recordCheckOf(customers)(JSON.parse(text))).toBeUndefined();
});

test('a number beyond the range of a double is accepted', () => {
  expect(recordCheckOf(bills)(JSON.parse(records.bill('1', { total_amount: '1e400' })))).toBeUndefined();
});

test('a reference to an ID too long for an index is refused, but a memo of that length is not', () => {
  const long = 'x'.repeat(2_001);
  const text = records.bill('1', {
    vendor_id: `"${long}"`,
    line_items: `[{"item":{"id":"${long}"}}]`,
    memo: `"${long}"`,
  });
  expect(recordCheckOf(bills)(JSON.parse(text))).toMatch(
    /^[^;]* is longer than 2000 bytes[^;]*; [^;]* is longer than 2000 bytes[^;]*$/,
  );
});

test('a wrong type is reported with its place in the record', () => {
  const text = records.item('1', { bill_item: '{"unit_price":20.5}', subsidiaries: '[{"id":"a"},{"id":7}]' });
  expect(recordCheckOf(items)(JSON.parse(text))).toBe(
    'bill_item.unit_price is a number, not a text; subsidiaries[1].id is a number, not a text',
  );
});

test('a long list of reasons is cut to five', () => {
  const fields = Object.fromEntries(bills.columns.slice(2, 12).map(({ name }) => [name, 'true']));
  const reason = recordCheckOf(bills)(JSON.parse(records.bill('1', fields)));
  expect(reason?.split('; ')).toHaveLength(5);
});

test('a check of 25,000 wrong lines reports the first five, within half a second', () => {
  const started = performance.now();
  const text = records.bill('1', { line_items: `[${'0,'.repeat(24_999)}0]` });
  expect(recordCheckOf(bills)(JSON.parse(text))).toBe(
    [0, 1, 2, 3, 4].map((line) => `line_items[${line}] is a number, not an object`).join('; '),
  );
  expect(performance.now() - started).toBeLessThan(500);
});

test('a record may have at most 25,000 lines', () => {
  const lines = (count: number): unknown =>
    JSON.parse(records.bill('1', { line_items: `[${'{},'.repeat(count - 1)}{}]` }));
  expect(recordCheckOf(bills)(lines(25_000))).toBeUndefined();
  expect(recordCheckOf(bills)(lines(25_001))).toBe(
    'line_items has more than 25,000 lines, the most that a record may have',
  );
});

test('line items that are not a list are reported', () => {
  expect(recordCheckOf(bills)(JSON.parse(records.bill('1', { line_items: '{"0":{}}' })))).toBe(
    'line_items is an object, not a list',
  );
});
