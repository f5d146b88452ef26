import fc from 'fast-check';
import type { Wish } from '../arbitrary-change.ts';
import { episodeOf, incident, runsOf, untold } from '../episode-of.ts';
import type { Change, Episode } from '../history.ts';

/** The service's clock is hours ahead for a while and is then corrected, so versions go back. */
export function correctedService(): fc.Arbitrary<Episode[]> {
  const first = fc.constantFrom<Change['what'][][]>(
    ['edit'],
    ['create'],
    ['delete'],
    ['spoil'],
    ['delete', 'recreate'],
  );
  return fc
    .tuple(fc.nat({ max: 999 }), first, runsOf(['sync'], ['reconcile']))
    .chain(([place, befalls, runs]) => {
      const these: Wish = { ...untold, which: [place], count: [3], milliseconds: [20] };
      return fc.tuple(
        episodeOf({}),
        episodeOf({
          before: [
            incident('service clock', 120),
            ...befalls.map((what): Wish => ({ ...these, what: [what], milliseconds: [20, 100_000] })),
          ],
          runs: ['sync'],
        }),
        episodeOf({
          before: [
            incident('service clock', 0),
            { ...these, what: ['edit', 'recreate', 'touch', 'delete'] },
            // By the next run, time may have caught up with the clock's earlier readings.
            { ...untold, what: ['touch'], count: [1], milliseconds: [20, 8_400_000] },
          ],
          runs,
        }),
      );
    });
}

/**
 * The service sets its clock back while a page waits in hand, or the host sleeps between any two steps. Records come in a time that the
 * clock tells twice.
 */
export function correctedMidway(): fc.Arbitrary<Episode[]> {
  const late: Wish = { ...untold, what: ['create late', 'create'], milliseconds: [20, 700_000] };
  const next: Wish = { ...untold, what: ['touch', 'create'], count: [1], milliseconds: [20, 8_400_000] };
  return fc.tuple(fc.constantFrom(-120, -10, -1), fc.boolean()).chain(([by, asleep]) => {
    const changes = [incident('service clock', by), late, late];
    return fc.tuple(
      // The company was not ready before it was connected.
      episodeOf({ before: [{ ...untold, what: ['touch'], count: [1], milliseconds: [8_400_000] }] }),
      episodeOf({
        before: [{ ...untold, what: ['touch', 'edit'], count: [4, 70], milliseconds: [20] }],
        runs: ['sync'],
        ...(asleep
          ? { meanwhile: { changes, latest: 60 } }
          : { standstill: { answers: [1, 2, 3], changes, steps: [0] } }),
      }),
      episodeOf({ before: [next], runs: ['sync'] }),
    );
  });
}

/** One record's version goes back, as after a wrong clock of the platform. The record may have been deleted and recreated before. */
export function correctedPlatform(): fc.Arbitrary<Episode[]> {
  return fc.tuple(fc.nat({ max: 999 }), runsOf(['sync'], ['reconcile'])).chain(([place, runs]) => {
    const these: Wish = { ...untold, which: [place], count: [1, 2], milliseconds: [20] };
    const again: Wish = { ...untold, which: [place], count: [1], milliseconds: [20] };
    return fc.tuple(
      episodeOf({
        before: [
          { ...again, what: ['delete', 'edit'] },
          { ...again, what: ['recreate', 'edit'] },
        ],
      }),
      episodeOf({ before: [{ ...these, what: ['edit in the future', 'edit', 'create in the future'] }] }),
      episodeOf({ before: [{ ...these, what: ['turn back'] }], runs }),
    );
  });
}

/** Versions lie in the future. */
export function future(): fc.Arbitrary<Episode[]> {
  const edit: Wish = { ...untold, what: ['edit', 'create'], milliseconds: [20, 15_000] };
  return fc.tuple(
    episodeOf({}),
    episodeOf({
      before: [{ ...untold, what: ['edit in the future', 'create in the future'], milliseconds: [20] }],
    }),
    episodeOf({ before: [edit] }),
  );
}

/** Postgres's clock is hours ahead for a while; earlier contents come back, and records are deleted. */
export function databaseAhead(): fc.Arbitrary<Episode[]> {
  const minutes = fc.constantFrom(120, 120, -120);
  return fc
    .tuple(fc.nat({ max: 999 }), minutes, runsOf(['sync'], ['reconcile']))
    .chain(([place, by, runs]) => {
      const these: Wish = { ...untold, which: [place], count: [2], milliseconds: [20] };
      return fc.tuple(
        episodeOf({ before: [{ ...these, what: ['write A'] }] }),
        episodeOf({
          before: [incident('database clock', by), { ...these, what: ['write B', 'delete unnoticed'] }],
          runs,
        }),
        episodeOf({
          before: [incident('database clock', 0), { ...these, what: ['write A', 'delete unnoticed'] }],
          runs,
        }),
      );
    });
}
