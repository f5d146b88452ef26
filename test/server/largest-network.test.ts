import { expect, test } from 'vitest';
import { networkOf } from '../../server/largest-network.ts';

test.each([
  ['fe80::a:b:c:d', 'fe80::1:2:3:4%eth0'],
  ['2001:db8::a:b:c:d', '2001:db8::1'],
  ['2001:db8:1:0:a:b:c:d', '2001:db8:1::d'],
  ['fd00::a:b:c:d', 'fd00:0:0:0:1:2:3:4'],
])('%s and %s belong to the same network', (one, other) => {
  expect(networkOf(one)).toBe(networkOf(other));
});

test.each([
  ['2001:db8:0:1::1', '2001:db8:0:2::1'],
  ['2001:db8::1:0:0:0:1', '2001:db8::1'],
  ['10.0.0.1', '10.0.0.2'],
  ['::ffff:10.0.0.1', '::ffff:10.0.0.2'],
])('%s and %s belong to different networks', (one, other) => {
  expect(networkOf(one)).not.toBe(networkOf(other));
});
