import fc from 'fast-check';
import { arbitraryChange, type Wish } from './arbitrary-change.ts';
import type { Episode, RunKind, Standstill } from './history.ts';

/** Nobody is told of it. */
export const untold: Wish = { webhook: ['lost'] };

/** One run, a sync unless it is said, in which nothing happens but what is wished for. */
export function episodeOf(wish: {
  before?: readonly Wish[];
  runs?: RunKind[];
  standstill?: StandstillWish;
}): fc.Arbitrary<Episode> {
  const { before = [], runs = ['sync'], standstill } = wish;
  return fc.record({
    before: fc.tuple(...before.map(arbitraryChange)),
    faults: fc.constant([]),
    runs: fc.constant(runs),
    meanwhile: fc.constant([]),
    kills: fc.constant([]),
    standstill:
      standstill === undefined
        ? fc.constant(null)
        : fc.record<Standstill>({
            answers: fc.constantFrom(...(standstill.answers ?? [1, 2, 3, 4, 5])),
            changes: fc.tuple(...standstill.changes.map(arbitraryChange)),
            steps: fc.constantFrom(...standstill.steps),
            stepsLeft: fc.constantFrom(...(standstill.stepsLeft ?? [null])),
          }),
    schedule: fc.nat(),
  });
}

interface StandstillWish {
  changes: readonly Wish[];
  steps: readonly number[];
  answers?: readonly number[];
  stepsLeft?: readonly number[];
}
