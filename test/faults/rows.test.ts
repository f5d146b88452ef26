import { expect, test } from 'vitest';
import { committingFiles } from './commit-points.ts';
import { faultAt } from './deaths.ts';
import { provenFaults } from './proof-table.ts';

test('every file of the product that commits was killed at its commits, and has its row in docs/proof.md', async () => {
  expect(await provenFaults()).toEqual(expect.arrayContaining((await committingFiles()).map(faultAt)));
});
