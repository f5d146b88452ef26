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
  },
): Promise<Simulation> {
  const { seed, goesOn, shrinkMilliseconds, about, onHistory } = input;
  const started = performance.now();
  const played = zeroPlayCounts();
  const onPlayed = (one: PlayCounts): void => {
    for (const name of Object.keys(played) as (keyof PlayCounts)[]) played[name] += one[name];
  };
  for (let histories = 0; ;) {
    const failure = goesOn(histories)
      ? await simulate(harness, { seed: seed + histories, shrinkMilliseconds, about, onPlayed })
      : null;
    if (failure !== null) histories += 1;
    const seconds = Math.round((performance.now() - started) / 100) / 10;
    const simulation = { histories, seconds, played, failure: failure ?? null };
    if (failure !== undefined) return simulation;
    onHistory?.(simulation);
  }
}
