import fc from 'fast-check';
import type { ChangeConstraints } from '../arbitrary-change.ts';
import { arbitraryEpisode, incident, arbitraryRuns, withoutWebhook } from '../arbitrary-episode.ts';
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
    .tuple(fc.nat({ max: 999 }), first, arbitraryRuns(['sync'], ['reconcile']))
    .chain(([place, firstChanges, runs]) => {
      const these: ChangeConstraints = { ...withoutWebhook, which: [place], count: [3], milliseconds: [20] };
      return fc.tuple(
        arbitraryEpisode({}),
        arbitraryEpisode({
          before: [
            incident('service clock', 120),
            ...firstChanges.map((what): ChangeConstraints => ({
              ...these,
              what: [what],
              milliseconds: [20, 100_000],
            })),
          ],
          runs: ['sync'],
        }),
        arbitraryEpisode({
          before: [
            incident('service clock', 0),
            { ...these, what: ['edit', 'recreate', 'touch', 'delete'] },
            // By the next run, time may have caught up with the clock's earlier readings.
            { ...withoutWebhook, what: ['touch'], count: [1], milliseconds: [20, 8_400_000] },
          ],
          runs,
        }),
      );
    });
}

/**
 * The service sets its clock back while a page waits to be landed, or the host sleeps between any two steps. Records come in a time that the
 * clock shows twice.
 */
export function correctedMidway(): fc.Arbitrary<Episode[]> {
  const late: ChangeConstraints = {
    ...withoutWebhook,
    what: ['create late', 'create'],
    milliseconds: [20, 700_000],
  };
  const next: ChangeConstraints = {
    ...withoutWebhook,
    what: ['touch', 'create'],
    count: [1],
    milliseconds: [20, 8_400_000],
  };
  return fc.tuple(fc.constantFrom(-120, -10, -1), fc.boolean()).chain(([by, asleep]) => {
    const changes = [incident('service clock', by), late, late];
    return fc.tuple(
      // The company was not ready before it was connected.
      arbitraryEpisode({
        before: [{ ...withoutWebhook, what: ['touch'], count: [1], milliseconds: [8_400_000] }],
      }),
      arbitraryEpisode({
        before: [{ ...withoutWebhook, what: ['touch', 'edit'], count: [4, 70], milliseconds: [20] }],
        runs: ['sync'],
        ...(asleep
          ? { meanwhile: { changes, latest: 60 } }
          : { standstill: { answers: [1, 2, 3], changes, steps: [0] } }),
      }),
      arbitraryEpisode({ before: [next], runs: ['sync'] }),
    );
  });
}

/** One record's version goes back, as after a wrong clock of the platform. The record may have been deleted and recreated before. */
export function correctedPlatform(): fc.Arbitrary<Episode[]> {
  return fc.tuple(fc.nat({ max: 999 }), arbitraryRuns(['sync'], ['reconcile'])).chain(([place, runs]) => {
    const these: ChangeConstraints = { ...withoutWebhook, which: [place], count: [1, 2], milliseconds: [20] };
    const again: ChangeConstraints = { ...withoutWebhook, which: [place], count: [1], milliseconds: [20] };
    return fc.tuple(
      arbitraryEpisode({
        before: [
          { ...again, what: ['delete', 'edit'] },
          { ...again, what: ['recreate', 'edit'] },
        ],
      }),
      arbitraryEpisode({
        before: [{ ...these, what: ['edit in the future', 'edit', 'create in the future'] }],
      }),
      arbitraryEpisode({ before: [{ ...these, what: ['turn back'] }], runs }),
    );
  });
}

/** Versions lie in the future. */
export function future(): fc.Arbitrary<Episode[]> {
  const edit: ChangeConstraints = { ...withoutWebhook, what: ['edit', 'create'], milliseconds: [20, 15_000] };
  return fc.tuple(
    arbitraryEpisode({}),
    arbitraryEpisode({
      before: [
        { ...withoutWebhook, what: ['edit in the future', 'create in the future'], milliseconds: [20] },
      ],
    }),
    arbitraryEpisode({ before: [edit] }),
  );
}

/** Postgres's clock is hours ahead for a while; earlier contents come back, and records are deleted. */
export function databaseAhead(): fc.Arbitrary<Episode[]> {
  const minutes = fc.constantFrom(120, 120, -120);
  return fc
    .tuple(fc.nat({ max: 999 }), minutes, arbitraryRuns(['sync'], ['reconcile']))
    .chain(([place, by, runs]) => {
      const these: ChangeConstraints = { ...withoutWebhook, which: [place], count: [2], milliseconds: [20] };
      return fc.tuple(
        arbitraryEpisode({ before: [{ ...these, what: ['write A'] }] }),
        arbitraryEpisode({
          before: [incident('database clock', by), { ...these, what: ['write B', 'delete unnoticed'] }],
          runs,
        }),
        arbitraryEpisode({
          before: [incident('database clock', 0), { ...these, what: ['write A', 'delete unnoticed'] }],
          runs,
        }),
      );
    });
}
