import fc from 'fast-check';
import { arbitraryChange, type ChangeConstraints } from './arbitrary-change.ts';
import type { Change, Episode, FaultKind, PlannedFault, RunKind, Standstill } from './history.ts';

/** The webhook of the change is lost. */
export const withoutWebhook: ChangeConstraints = { webhook: ['lost'], company: [0] };

/** Constraints for an event in the environment of the records. */
export function incident(what: Change['what'], minutes = 0): ChangeConstraints {
  return { ...withoutWebhook, what: [what], count: [1], milliseconds: [20], minutes: [minutes] };
}

/** One run, by default a sync, in which only the given events happen. */
export function arbitraryEpisode(constraints: {
  before?: readonly ChangeConstraints[];
  runs?: RunKind[];
  standstill?: StandstillConstraints;
  meanwhile?: MeanwhileConstraints;
  faults?: readonly PlannedFault[];
  beside?: NonNullable<Episode['beside']>;
  kills?: Episode['kills'];
}): fc.Arbitrary<Episode> {
  const {
    before = [],
    runs = ['sync'],
    standstill,
    meanwhile,
    faults = [],
    beside = [],
    kills = [],
  } = constraints;
  return fc.record({
    before: fc.tuple(...before.map(arbitraryChange)),
    faults: fc.constant([...faults]),
    runs: fc.constant(runs),
    beside: fc.constant(beside),
    meanwhile:
      meanwhile === undefined
        ? fc.constant([])
        : fc
            .tuple(fc.nat({ max: meanwhile.latest }), fc.tuple(...meanwhile.changes.map(arbitraryChange)))
            .map(([step, changes]) => changes.map((change) => ({ step, change }))),
    kills: fc.constant(kills),
    standstill:
      standstill === undefined
        ? fc.constant(null)
        : fc.record<Standstill>({
            ...(standstill.activities === undefined
              ? {}
              : { activity: fc.constantFrom(...standstill.activities) }),
            answers: fc.constantFrom(...(standstill.answers ?? [1, 2, 3, 4, 5])),
            changes: fc.tuple(...standstill.changes.map(arbitraryChange)),
            steps: fc.constantFrom(...standstill.steps),
            stepsLeft: fc.constantFrom(...(standstill.stepsLeft ?? [null])),
          }),
    schedule: fc.nat(),
  });
}

export function arbitraryRuns(...kinds: RunKind[][]): fc.Arbitrary<RunKind[]> {
  return fc.constantFrom(...kinds);
}

export function fault(
  kind: FaultKind,
  where: { path: PlannedFault['path']; after: number; times: number },
): PlannedFault {
  return { kind, ...where };
}

/** All changes come between the same two steps of the run, whichever they are. */
interface MeanwhileConstraints {
  changes: readonly ChangeConstraints[];
  /** The last step that the changes may precede. */
  latest: number;
}

export interface StandstillConstraints {
  changes: readonly ChangeConstraints[];
  steps: readonly number[];
  activities?: readonly string[];
  answers?: readonly number[];
  stepsLeft?: readonly (number | null)[];
}
