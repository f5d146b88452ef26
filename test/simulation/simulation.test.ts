import { readFile } from 'node:fs/promises';
import { afterAll, describe, expect, test } from 'vitest';
import { isProof, proofTest, some } from '../support/proof-test.ts';
import { createTestDatabase } from '../support/test-database.ts';
import { describeHistory } from './describe-history.ts';
import type { History } from './history.ts';
import { mutants, applyMutant } from './mutants.ts';
import { playHistory } from './play-history.ts';
import { runMutants } from './run-mutants.ts';
import { runSimulation } from './run-simulation.ts';
import { openHarness } from './harness.ts';

const { url } = await createTestDatabase();
const harness = await openHarness(url);
afterAll(() => harness.close());

/** Histories that once broke a promise, as small as they could be made. */
const past = JSON.parse(await readFile(new URL('seeds.json', import.meta.url), 'utf8')) as {
  broke: string;
  history: History;
}[];

describe('a history that once broke a promise no longer breaks any', () => {
  test.each(some(past, 3).map(({ broke, history }) => [broke, history] as const))(
    '%s',
    async (_, history) => {
      await playHistory(harness, history);
    },
  );
});

test('the first histories of a fixed seed, with changes, faults, kills and concurrent runs, break no promise', async () => {
  // Always the same histories here; `npm run simulate` plays others, and more.
  const seed = 7_000_000;
  const { failure, histories } = await runSimulation(harness, {
    seed,
    goesOn: (played) => played < (isProof ? 15 : 2),
    shrinkMilliseconds: 30_000,
  });
  const failureText =
    failure &&
    `${failure.message}\n${describeHistory(failure.history)}\nseed ${failure.seed}, path ${failure.path}`;
  expect(failureText).toBeNull();
  expect(histories).toBeGreaterThan(0);
});

test('every mutant still fits its file', async () => {
  for (const mutant of mutants) {
    const right = await readFile(new URL(`../../${mutant.file}`, import.meta.url), 'utf8');
    expect(applyMutant(mutant, right)).not.toBe(right);
  }
});

// The list of mistakes has a row of its own in docs/proof.md.
proofTest.each(['the watermark is the local clock', 'what is new is asked for by updated_at'])(
  'the simulation notices that %s',
  async (only) => {
    const [outcome] = await runMutants({ seed: 5000, milliseconds: 90_000, only, goesOn: () => true });
    expect(outcome?.caughtBy).toEqual(expect.any(String));
  },
);
