import { afterAll, expect, test } from 'vitest';
import { createTestDatabase } from '../../support/test-database.ts';
import { afterEachCommit } from './after-each-commit.ts';
import { reads } from './reads.ts';
import { reconciles } from './reconciles.ts';
import { openStandby } from './standby.ts';

// all-scenarios.proof.test.ts runs all scenarios.
const { warehouse, adminUrl } = await createTestDatabase();
const standby = await openStandby(warehouse, adminUrl);
afterAll(() => standby.close());

test.each([
  {
    scenario: named(reconciles, 'a reconcile requested by a deletion, beside a record that cannot be stored'),
    lacks: 'the last commit',
    lacking: () => [1],
  },
  {
    scenario: named(reads, 'a backfill'),
    lacks: 'all commits but the first',
    lacking: (commits: number) => [commits - 1],
  },
])(
  '$scenario.name keeps its promises when a standby that lacks $lacks takes over after any commit',
  async ({ scenario, lacking }) => {
    const { takeovers, brokenInvariants } = await afterEachCommit(scenario, { warehouse, standby, lacking });
    expect(brokenInvariants).toEqual([]);
    expect(takeovers).toBeGreaterThan(10);
  },
);

function named<Scenario extends { name: string }>(scenarios: readonly Scenario[], name: string): Scenario {
  const found = scenarios.find((one) => one.name === name);
  if (found === undefined) throw new Error(`There is no scenario "${name}".`);
  return found;
}
