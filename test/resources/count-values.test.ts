import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createValueCounter, mostValuesIn } from '../../resources/count-values.ts';

test('neither count of JSON values is ever too low, even if the bytes arrive in two pieces', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat({ max: 3 }), (value, indent) => {
      const bytes = Buffer.from(JSON.stringify(value, null, indent));
      const values = valuesIn(JSON.parse(bytes.toString()));
      const countOn = createValueCounter();
      const halves = [bytes.subarray(0, bytes.length / 2), bytes.subarray(bytes.length / 2)];
      // An empty list or object counts as one.
      expect(Math.max(...halves.map(countOn))).toBeGreaterThanOrEqual(values);
      expect(halves.reduce((sum, half) => sum + mostValuesIn(half), 1)).toBeGreaterThanOrEqual(values);
    }),
  );
});

test('the upper bound counts commas and brackets in strings as values; the running count does not', () => {
  const bytes = Buffer.from('["a, b, [c], {d}"]');
  expect(createValueCounter()(bytes)).toBe(2);
  expect(1 + mostValuesIn(bytes)).toBe(7);
});

function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, one) => sum + valuesIn(one), 1);
}
