import fc from 'fast-check';
import type { ChangeConstraints } from '../arbitrary-change.ts';
import {
  arbitraryEpisode,
  incident,
  arbitraryRuns,
  withoutWebhook,
  type StandstillConstraints,
} from '../arbitrary-episode.ts';
import type { Episode } from '../history.ts';

/** A pass stands still for longer than the lookback, while records come late behind its cursor and new ones before it. */
export function longPause(): fc.Arbitrary<Episode[]> {
  const late: ChangeConstraints = { ...withoutWebhook, what: ['create late'], milliseconds: [0, 1, 20] };
  const fresh: ChangeConstraints = {
    ...withoutWebhook,
    what: ['create', 'edit'],
    milliseconds: [15_000, 700_000, 7_200_000],
  };
  return fc.tuple(
    arbitraryEpisode({}),
    arbitraryEpisode({
      before: [{ ...withoutWebhook, what: ['touch', 'edit'], count: [4, 70], milliseconds: [700_000] }],
      standstill: { answers: [1, 2, 3], changes: [late, fresh], steps: [0] },
    }),
  );
}

/** A pass pauses for less than the lookback while records come late, stops after one more page, and continues long after. */
export function pausedTwice(): fc.Arbitrary<Episode[]> {
  const late: ChangeConstraints = { ...withoutWebhook, what: ['create late'], milliseconds: [1, 20] };
  const fresh: ChangeConstraints = {
    ...withoutWebhook,
    what: ['create', 'touch'],
    milliseconds: [6_000, 300_000],
  };
  return fc.integer({ min: 30, max: 90 }).chain((step) =>
    fc.tuple(
      arbitraryEpisode({}),
      arbitraryEpisode({
        before: [{ ...withoutWebhook, what: ['touch', 'edit'], count: [4, 70], milliseconds: [700_000] }],
        runs: ['terminated sync'],
        standstill: { answers: [1, 2, 3], changes: [late, fresh], steps: [0] },
        kills: [{ step, how: 'before', stepsLeft: 1 }],
      }),
      arbitraryEpisode({
        before: [{ ...withoutWebhook, what: ['edit', 'create'], milliseconds: [15_000, 700_000] }],
      }),
    ),
  );
}

/** A step of a reconcile is given up at any point. It continues when the resource is listed anew, or the run is over. */
export function lateStep(): fc.Arbitrary<Episode[]> {
  const what: ChangeConstraints['what'] = ['delete unnoticed', 'delete unnoticed', 'edit', 'recreate'];
  const gone: ChangeConstraints = {
    ...withoutWebhook,
    what: ['delete unnoticed'],
    count: [1, 4],
    milliseconds: [20, 700_000],
  };
  const more: ChangeConstraints = {
    ...withoutWebhook,
    what,
    count: [1, 4, 70],
    milliseconds: [20, 700_000, 7_200_000],
  };
  const anywhere = { changes: [more, more], steps: [10, 50, 200, 800], stepsLeft: [10, 40, 200] };
  const standstills = [
    { ...anywhere, answers: upTo(20) },
    {
      ...anywhere,
      activities: ['findAbsent', 'listAgain', 'confirmByFetch', 'confirmBySecondListing', 'settleResource'],
      answers: upTo(12),
    },
  ];
  return fc.constantFrom(...standstills).chain((standstill) =>
    fc.tuple(
      arbitraryEpisode({
        before: [{ ...withoutWebhook, what: ['create'], count: [4], milliseconds: [20] }],
      }),
      arbitraryEpisode({ before: [gone, gone], runs: ['reconcile'], standstill }),
      arbitraryEpisode({ before: [gone], runs: ['reconcile'] }),
    ),
  );
}

/**
 * A page of newer versions waits to be landed while a reconcile finds that the records are gone. If the service does not tell its time, nothing
 * shows since when.
 */
export function latePageOfGone(): fc.Arbitrary<Episode[]> {
  const gone: ChangeConstraints = {
    ...withoutWebhook,
    what: ['delete unnoticed'],
    count: [1, 4],
    milliseconds: [20, 15_000],
  };
  return arbitraryRuns(['backfill', 'reconcile'], ['sync', 'reconcile']).chain((runs) =>
    fc.tuple(
      arbitraryEpisode({}),
      arbitraryEpisode({
        before: [{ ...withoutWebhook, what: ['touch', 'edit'], count: [4], milliseconds: [20] }],
        runs,
        standstill: { answers: upTo(5), changes: [gone], steps: [400, 3_000] },
      }),
    ),
  );
}

/** An attempt that reads pages is given up after receiving one, and lands it while the next attempt reads. */
export function overtakenAttempt(): fc.Arbitrary<Episode[]> {
  const change: ChangeConstraints = {
    ...withoutWebhook,
    what: ['edit', 'create', 'delete unnoticed'],
    milliseconds: [20, 15_000],
  };
  return arbitraryRuns(['sync'], ['backfill'], ['reconcile']).chain((runs) =>
    fc.tuple(
      arbitraryEpisode({}),
      arbitraryEpisode({
        before: [
          { ...withoutWebhook, what: ['touch', 'edit', 'create'], count: [4, 70], milliseconds: [20] },
        ],
        runs,
        standstill: { answers: upTo(5), changes: [change], steps: [10, 40, 120], stepsLeft: [20, 60] },
      }),
    ),
  );
}

/** A standby without some commit takes over, while the same attempt continues. */
export function lostCommit(): fc.Arbitrary<Episode[]> {
  const loss = fc.integer({ min: 3, max: 120 }).map((step) => [{ step, how: 'lose', stepsLeft: 1 } as const]);
  const change: ChangeConstraints = {
    what: ['touch', 'edit', 'create', 'delete', 'delete unnoticed'],
    count: [4, 35, 70],
    milliseconds: [20],
  };
  return arbitraryRuns(['sync'], ['backfill'], ['reconcile'], ['webhooks'], ['tick']).chain((runs) =>
    loss.chain((kills) =>
      fc.tuple(arbitraryEpisode({}), arbitraryEpisode({ before: [change, change], runs, kills })),
    ),
  );
}

/** A reconcile is given up after it has deleted as many records as it may. Before anyone continues it, as many more are deleted at the source. */
export function interruptedDeletion(): fc.Arbitrary<Episode[]> {
  const many: ChangeConstraints = { ...withoutWebhook, count: [35], milliseconds: [20] };
  const gone: ChangeConstraints = { ...many, which: [0], what: ['delete unnoticed'] };
  return fc.tuple(
    arbitraryEpisode({
      before: [
        { ...many, what: ['create'], which: [0] },
        { ...many, what: ['create'], which: [0] },
      ],
    }),
    arbitraryEpisode({
      before: [gone],
      runs: ['reconcile'],
      standstill: {
        activities: ['settleResource'],
        // The steps that a reconcile of all resources takes there.
        answers: upTo(190),
        changes: [{ ...gone, milliseconds: [700_000, 7_200_000] }],
        steps: [0],
        stepsLeft: [0],
      },
    }),
  );
}

/**
 * A host sleeps before a reconcile deletes or proves anything, with its clock or without. The proof does not satisfy an earlier request for
 * a reconcile.
 */
export function sleptBeforeProof(
  during: Pick<StandstillConstraints, 'activities' | 'answers'> = {
    activities: ['findAbsent', 'confirmByFetch', 'settleResource', 'settleResource'],
    answers: upTo(16),
  },
): fc.Arbitrary<Episode[]> {
  const gone: ChangeConstraints = {
    ...withoutWebhook,
    what: ['delete unnoticed'],
    count: [1, 2],
    milliseconds: [20],
  };
  const again: ChangeConstraints = {
    ...withoutWebhook,
    what: ['recreate', 'edit'],
    milliseconds: [20, 700_000],
  };
  const sleeps: ChangeConstraints[] = [
    { ...incident('database clock', -120), milliseconds: [7_200_000] },
    { ...again, milliseconds: [7_200_000] },
  ];
  return fc.constantFrom(...sleeps).chain((asleep) =>
    fc.tuple(
      arbitraryEpisode({}),
      arbitraryEpisode({
        before: [incident('add again'), gone],
        runs: ['reconcile'],
        standstill: { ...during, changes: [asleep, again], steps: [0] },
      }),
    ),
  );
}

/** The same at the end of a reconcile, where another list is requested because the first one names no company. */
export function sleptBeforeName(): fc.Arbitrary<Episode[]> {
  return sleptBeforeProof({ activities: ['settleResource'], answers: upTo(16).slice(8) });
}

/** A page of good versions waits to be landed, while a webhook brings a version that cannot be stored. */
export function spoiledMeanwhile(): fc.Arbitrary<Episode[]> {
  const change: ChangeConstraints = { count: [1, 2], milliseconds: [20], webhook: ['at once'], company: [0] };
  return fc
    .tuple(fc.nat({ max: 999 }), arbitraryRuns(['sync'], ['reconcile'], ['backfill']))
    .chain(([place, [kind]]) =>
      fc.tuple(
        arbitraryEpisode({}),
        arbitraryEpisode({
          before: [{ ...change, which: [place], what: ['edit', 'touch'], webhook: ['lost'] }],
          runs: kind === undefined ? [] : [kind, 'webhooks'],
          standstill: {
            answers: upTo(4),
            changes: [{ ...change, which: [place], what: ['spoil'] }],
            steps: [400],
          },
        }),
        arbitraryEpisode({ runs: ['sync'] }),
      ),
    );
}

/** The numbers from 1 to `last`. */
function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, place) => place + 1);
}
