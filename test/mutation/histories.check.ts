import { readFile } from 'node:fs/promises';
import { afterAll, expect, test } from 'vitest';
import type { History } from '../simulation/history.ts';
import { playHistory } from '../simulation/play-history.ts';
import { runSimulation } from '../simulation/run-simulation.ts';
import { openHarness } from '../simulation/harness.ts';
import { createTestDatabase } from '../support/test-database.ts';

const { url } = await createTestDatabase();
const harness = await openHarness(url);
afterAll(() => harness.close());

const past = JSON.parse(
  await readFile(new URL('../simulation/seeds.json', import.meta.url), 'utf8'),
) as readonly { broke: string; history: History }[];

test.each(past.map(({ broke, history }) => [broke, history] as const))('%s', async (_, history) => {
  await playHistory(harness, history);
});

test('no random history breaks a promise', async () => {
  const deadline = performance.now() + Number(process.env.MUTATION_HISTORIES_SECONDS ?? '25') * 1_000;
  const goesOn = (): boolean => performance.now() < deadline;
  const { failure } = await runSimulation(harness, { seed: 4_711, goesOn, shrinkMilliseconds: 0 });
  expect(failure?.message ?? null).toBeNull();
});
