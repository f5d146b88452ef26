import fc from 'fast-check';
import type { Wish } from '../arbitrary-change.ts';
import { episodeOf, incident, runsOf, untold, type StandstillWish } from '../episode-of.ts';
import type { Episode } from '../history.ts';

/** A pass stands still for longer than the lookback, while records come late behind its cursor and new ones before it. */
export function longPause(): fc.Arbitrary<Episode[]> {
  const late: Wish = { ...untold, what: ['create late'], milliseconds: [0, 1, 20] };
  const fresh: Wish = { ...untold, what: ['create', 'edit'], milliseconds: [15_000, 700_000, 7_200_000] };
  return fc.tuple(
    episodeOf({}),
    episodeOf({
      before: [{ ...untold, what: ['touch', 'edit'], count: [4, 70], milliseconds: [700_000] }],
      standstill: { answers: [1, 2, 3], changes: [late, fresh], steps: [0] },
    }),
  );
}

/** A pass pauses for less than the lookback while records come late, stops after one more page, and continues long after. */
export function pausedTwice(): fc.Arbitrary<Episode[]> {
  const late: Wish = { ...untold, what: ['create late'], milliseconds: [1, 20] };
  const fresh: Wish = { ...untold, what: ['create', 'touch'], milliseconds: [6_000, 300_000] };
  return fc.integer({ min: 30, max: 90 }).chain((step) =>
    fc.tuple(
      episodeOf({}),
      episodeOf({
        before: [{ ...untold, what: ['touch', 'edit'], count: [4, 70], milliseconds: [700_000] }],
        runs: ['terminated sync'],
        standstill: { answers: [1, 2, 3], changes: [late, fresh], steps: [0] },
        kills: [{ step, how: 'before', stepsLeft: 1 }],
      }),
      episodeOf({ before: [{ ...untold, what: ['edit', 'create'], milliseconds: [15_000, 700_000] }] }),
    ),
  );
}

/** A step of a reconcile is given up at any point. It continues when the resource is listed anew, or the run is over. */
export function lateStep(): fc.Arbitrary<Episode[]> {
  const what: Wish['what'] = ['delete unnoticed', 'delete unnoticed', 'edit', 'recreate'];
  const gone: Wish = { ...untold, what: ['delete unnoticed'], count: [1, 4], milliseconds: [20, 700_000] };
  const more: Wish = { ...untold, what, count: [1, 4, 70], milliseconds: [20, 700_000, 7_200_000] };
  const anywhere = { changes: [more, more], steps: [10, 50, 200, 800], stepsLeft: [10, 40, 200] };
  const standstills = [
    { ...anywhere, answers: upTo(20) },
    {
      ...anywhere,
      activities: ['findAbsent', 'listAgain', 'confirmByFetch', 'confirmBySecondListing', 'settleResource'],
      answers: upTo(12),
    },
  ];
  return fc
    .constantFrom(...standstills)
    .chain((standstill) =>
      fc.tuple(
        episodeOf({ before: [{ ...untold, what: ['create'], count: [4], milliseconds: [20] }] }),
        episodeOf({ before: [gone, gone], runs: ['reconcile'], standstill }),
        episodeOf({ before: [gone], runs: ['reconcile'] }),
      ),
    );
}

/**
 * A page of newer versions waits in hand while a reconcile finds that the records are gone. If the service does not tell its time, nothing
 * shows since when.
 */
export function latePageOfGone(): fc.Arbitrary<Episode[]> {
  const gone: Wish = { ...untold, what: ['delete unnoticed'], count: [1, 4], milliseconds: [20, 15_000] };
  return runsOf(['backfill', 'reconcile'], ['sync', 'reconcile']).chain((runs) =>
    fc.tuple(
      episodeOf({}),
      episodeOf({
        before: [{ ...untold, what: ['touch', 'edit'], count: [4], milliseconds: [20] }],
        runs,
        standstill: { answers: upTo(5), changes: [gone], steps: [400, 3_000] },
      }),
    ),
  );
}

/** An attempt that reads pages is given up with one in hand, and lands it while the next attempt reads. */
export function overtakenAttempt(): fc.Arbitrary<Episode[]> {
  const change: Wish = {
    ...untold,
    what: ['edit', 'create', 'delete unnoticed'],
    milliseconds: [20, 15_000],
  };
  return runsOf(['sync'], ['backfill'], ['reconcile']).chain((runs) =>
    fc.tuple(
      episodeOf({}),
      episodeOf({
        before: [{ ...untold, what: ['touch', 'edit', 'create'], count: [4, 70], milliseconds: [20] }],
        runs,
        standstill: { answers: upTo(5), changes: [change], steps: [10, 40, 120], stepsLeft: [20, 60] },
      }),
    ),
  );
}

/** A standby without some commit takes over, while the same attempt continues. */
export function lostCommit(): fc.Arbitrary<Episode[]> {
  const loss = fc.integer({ min: 3, max: 120 }).map((step) => [{ step, how: 'lose', stepsLeft: 1 } as const]);
  const change: Wish = {
    what: ['touch', 'edit', 'create', 'delete', 'delete unnoticed'],
    count: [4, 35, 70],
    milliseconds: [20],
  };
  return runsOf(['sync'], ['backfill'], ['reconcile'], ['webhooks'], ['tick']).chain((runs) =>
    loss.chain((kills) => fc.tuple(episodeOf({}), episodeOf({ before: [change, change], runs, kills }))),
  );
}

/** A reconcile is given up after it has deleted as many records as it may. Before anyone continues it, as many more are deleted at the source. */
export function interruptedDeletion(): fc.Arbitrary<Episode[]> {
  const many: Wish = { ...untold, count: [35], milliseconds: [20] };
  const gone: Wish = { ...many, which: [0], what: ['delete unnoticed'] };
  return fc.tuple(
    episodeOf({
      before: [
        { ...many, what: ['create'], which: [0] },
        { ...many, what: ['create'], which: [0] },
      ],
    }),
    episodeOf({
      before: [gone],
      runs: ['reconcile'],
      standstill: {
        activities: ['settleResource'],
        answers: upTo(45),
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
  during: Pick<StandstillWish, 'activities' | 'answers'> = {
    activities: ['findAbsent', 'confirmByFetch', 'settleResource', 'settleResource'],
    answers: upTo(16),
  },
): fc.Arbitrary<Episode[]> {
  const gone: Wish = { ...untold, what: ['delete unnoticed'], count: [1, 2], milliseconds: [20] };
  const again: Wish = { ...untold, what: ['recreate', 'edit'], milliseconds: [20, 700_000] };
  const night: Wish[] = [
    { ...incident('database clock', -120), milliseconds: [7_200_000] },
    { ...again, milliseconds: [7_200_000] },
  ];
  return fc.constantFrom(...night).chain((asleep) =>
    fc.tuple(
      episodeOf({}),
      episodeOf({
        before: [incident('add again'), gone],
        runs: ['reconcile'],
        standstill: { ...during, changes: [asleep, again], steps: [0] },
      }),
    ),
  );
}

/** The same at the end of a reconcile, where a list that names no company has another one asked. */
export function sleptBeforeName(): fc.Arbitrary<Episode[]> {
  return sleptBeforeProof({ activities: ['settleResource'], answers: upTo(16).slice(8) });
}

/** A page of good versions waits in hand, while a webhook brings a version that cannot be stored. */
export function spoiledMeanwhile(): fc.Arbitrary<Episode[]> {
  const change: Wish = { count: [1, 2], milliseconds: [20], webhook: ['at once'], company: [0] };
  return fc
    .tuple(fc.nat({ max: 999 }), runsOf(['sync'], ['reconcile'], ['backfill']))
    .chain(([place, [kind]]) =>
      fc.tuple(
        episodeOf({}),
        episodeOf({
          before: [{ ...change, which: [place], what: ['edit', 'touch'], webhook: ['lost'] }],
          runs: kind === undefined ? [] : [kind, 'webhooks'],
          standstill: {
            answers: upTo(4),
            changes: [{ ...change, which: [place], what: ['spoil'] }],
            steps: [400],
          },
        }),
        episodeOf({ runs: ['sync'] }),
      ),
    );
}

/** The numbers from 1 to `last`. */
function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, place) => place + 1);
}
