import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createValueCounter, mostValuesIn } from '../../resources/count-values.ts';

test('values of JSON are counted as its bytes come, and there are never more than its commas and brackets say', () => {
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

test('what is written in texts may count as values too, but only in the count of the most there can be', () => {
  const bytes = Buffer.from('["a, b, [c], {d}"]');
  expect(createValueCounter()(bytes)).toBe(2);
  expect(1 + mostValuesIn(bytes)).toBe(7);
});

function valuesIn(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce((sum: number, one) => sum + valuesIn(one), 1);
}
