import { zeroPlayCounts, type PlayCounts } from './play-counts.ts';
import { simulate, type SimulationFailure } from './simulate.ts';
import type { Harness } from './harness.ts';

export interface Simulation {
  readonly histories: number;
  readonly seconds: number;
  readonly played: PlayCounts;
  readonly failure: SimulationFailure | null;
}

/** Plays one history after the other, beginning with the seed, until one breaks a promise or `goesOn` returns false. */
export async function runSimulation(
  harness: Harness,
  input: {
    seed: number;
    /** Called before each history. */
    goesOn: (histories: number) => boolean;
    shrinkMilliseconds: number;
    /** Plays only histories of this scenario; see `scenarios`. */
    about?: string | undefined;
    onHistory?: (simulation: Simulation) => void;
    /** Returns a harness with an empty database, after closing the last one. */
    renew?: () => Promise<Harness>;
  },
): Promise<Simulation> {
  const { seed, goesOn, shrinkMilliseconds, about, onHistory, renew } = input;
  const started = performance.now();
  const played = zeroPlayCounts();
  const onPlayed = (one: PlayCounts): void => {
    for (const name of Object.keys(played) as (keyof PlayCounts)[]) played[name] += one[name];
  };
  let current = harness;
  const harnessFor = async (histories: number): Promise<Harness> => {
    const isFull = histories > 0 && histories % historiesPerDatabase === 0;
    if (isFull && renew !== undefined) current = await renew();
    return current;
  };
  for (let histories = 0; ;) {
    const failure = goesOn(histories)
      ? await simulate(await harnessFor(histories), {
          seed: seed + histories,
          shrinkMilliseconds,
          about,
          onPlayed,
        })
      : null;
    if (failure !== null) histories += 1;
    const seconds = Math.round((performance.now() - started) / 100) / 10;
    const simulation = { histories, seconds, played, failure: failure ?? null };
    if (failure !== undefined) return simulation;
    onHistory?.(simulation);
  }
}

/**
 * The companies of earlier histories stay, as neighbors of the next ones. But an export reads all of them, so that after 650 histories one took
 * three to four times as long as the first.
 */
const historiesPerDatabase = 50;
