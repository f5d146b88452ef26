import { expect, test } from 'vitest';
import { exactSum } from '../../lake/parquet/exact-sum.ts';

test.each([
  [['-50.000000000', '1'], '-49'],
  [['-9999999999999999999999999999900', '-50.5'], '-9999999999999999999999999999950.5'],
  [['0.1', '0.2'], '0.3'],
  [['0', '-0.000000001'], '-0.000000001'],
  [['1.500', '-1.5'], '0'],
])('%j add up to %s', (decimals, sum) => {
  expect(exactSum(...decimals)).toBe(sum);
});
