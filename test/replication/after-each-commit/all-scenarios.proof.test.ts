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
  '$name keeps its promises when a standby that lacks 1, 3, or all commits, or all but the first, takes over after any',
  async (scenario) => {
    const lacking = (commits: number): number[] => [1, 3, commits - 1, commits];
    const { takeovers, broken } = await afterEachCommit(scenario, { warehouse, standby, lacking });
    expect(broken).toEqual([]);
    expect(takeovers).toBeGreaterThan(0);
  },
);
