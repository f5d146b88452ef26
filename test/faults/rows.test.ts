import { expect, test } from 'vitest';
import { committingFiles } from './commit-points.ts';
import { faultAt } from './planned-kills.ts';
import { provenFaults } from './proof-table.ts';

test('every product file that commits has a row about kills at its commits in docs/proof.md', async () => {
  expect(await provenFaults()).toEqual(expect.arrayContaining((await committingFiles()).map(faultAt)));
});
