import fc from 'fast-check';
import { histories } from './arbitrary-history.ts';
import type { History } from './history.ts';
import { playHistory } from './play-history.ts';
import type { PlayCounts } from './play-counts.ts';
import type { Harness } from './harness.ts';

export interface SimulationFailure {
  readonly seed: number;
  /** fast-check's path to the smallest failing history among those that the seed can shrink to. */
  readonly path: string;
  readonly history: History;
  readonly message: string;
  readonly stack: string;
}

/** Plays the history of a seed. If it breaks a promise, looks for the smallest one that does, for a limited time. */
export async function simulate(
  harness: Harness,
  input: {
    seed: number;
    path?: string;
    about?: string | undefined;
    shrinkMilliseconds: number;
    onPlayed?: (played: PlayCounts) => void;
  },
): Promise<SimulationFailure | undefined> {
  const { seed, path, about, shrinkMilliseconds, onPlayed } = input;
  let deadline = Infinity;
  const property = fc.asyncProperty(histories(about), async (history) => {
    // Once the time is up, no smaller history counts as failing.
    if (performance.now() > deadline) return;
    try {
      // Passed this way because an optional call with the history as its argument would skip playing it.
      const played = await playHistory(harness, history);
      onPlayed?.(played);
    } catch (error) {
      deadline = Math.min(deadline, performance.now() + shrinkMilliseconds);
      throw error;
    }
  });
  const result = await fc.check(property, { seed, numRuns: 1, ...(path === undefined ? {} : { path }) });
  if (!result.failed) return undefined;
  const [history] = result.counterexample ?? [];
  const error = result.errorInstance;
  if (history === undefined || result.counterexamplePath === null)
    throw new Error('A failure without a history.');
  return {
    seed,
    path: result.counterexamplePath,
    history,
    message: error instanceof Error ? error.message : String(error),
    stack: error instanceof Error ? (error.stack ?? '') : '',
  };
}
