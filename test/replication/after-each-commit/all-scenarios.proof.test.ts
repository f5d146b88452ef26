import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../support/test-database.ts';
import { afterEachCommit } from './after-each-commit.ts';
import { commands } from './commands.ts';
import { reads } from './reads.ts';
import { reconciles } from './reconciles.ts';
import { openStandby } from './standby.ts';

const { warehouse, adminUrl } = await createTestDatabase();
const standby = await openStandby(warehouse, adminUrl);
afterAll(() => standby.close());

test.each([...reads, ...reconciles, ...commands])(
  '$name keeps its promises when a standby lacking 1, 3, all, or all but the first commit takes over after any commit',
  async (scenario) => {
    const lacking = (commits: number): number[] => [1, 3, commits - 1, commits];
    const { takeovers, brokenInvariants } = await afterEachCommit(scenario, { warehouse, standby, lacking });
    expect(brokenInvariants).toEqual([]);
    expect(takeovers).toBeGreaterThan(0);
  },
);
