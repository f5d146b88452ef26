import { expect, test } from 'vitest';
import { checkNode } from '../../cli/doctor/host-checks.ts';
import { checkFairness } from '../../cli/doctor/temporal-checks.ts';

test.each(['18.20.1', '20.18.3'])(
  'doctor refuses Node %s, which is older than package.json allows',
  (version) => {
    expect(() => checkNode(version)).toThrow(`${version} is too old: Daybook needs Node 20.19 or newer.`);
  },
);

test.each(['20.19.0', '22.1.0', '24.0.0'])('doctor accepts Node %s', (version) => {
  expect(checkNode(version)).toBe(version);
});

test('doctor warns of a Temporal version without fairness, and does not claim to know if fairness is on', () => {
  const server = { isEmbedded: false };
  expect(checkFairness('1.28.4', server).problems).toEqual([
    'version 1.28.4 has none, so a large company may hold up small ones: upgrade Temporal to 1.29 or newer',
  ]);
  for (const version of ['1.29.0', '1.31.2-cloud', ''])
    expect(checkFairness(version, server)).toMatchObject({
      problems: [],
      allWell: expect.stringContaining('does not say whether it is on') as string,
    });
  expect(checkFairness('1.31.2', { isEmbedded: true })).toEqual({
    problems: [],
    allWell: 'on: workers take turns among connections',
  });
});
