import fc from 'fast-check';
import type { Wish } from '../arbitrary-change.ts';
import { episodeOf, incident, runsOf, untold } from '../episode-of.ts';
import type { Change, Episode } from '../history.ts';

/** Webhooks arrive after what they report is over, such as a deletion when the record lives again. */
export function lateWebhooks(): fc.Arbitrary<Episode[]> {
  const runs = runsOf(['webhooks'], ['webhooks', 'sync'], ['webhooks', 'reconcile']);
  return fc.tuple(fc.nat({ max: 999 }), runs).chain(([place, kinds]) => {
    const mine: Wish = { which: [place], count: [1, 2], milliseconds: [20], company: [0] };
    return fc.tuple(
      episodeOf({}),
      episodeOf({
        before: [
          { ...mine, what: ['delete', 'delete', 'edit'], webhook: ['next episode', 'two episodes later'] },
          { ...untold, ...mine, what: ['recreate', 'edit'], webhook: ['lost'] },
        ],
        runs: ['sync'],
      }),
      episodeOf({ runs: kinds }),
      episodeOf({ runs: ['webhooks'] }),
    );
  });
}

/** Unexpected ids and texts, and records without an id. */
export function oddRecords(): fc.Arbitrary<Episode[]> {
  const odd: Wish = {
    what: ['create with an odd id', 'create without an id', 'write odd texts'],
    milliseconds: [20],
  };
  const then: Wish = {
    what: ['touch', 'delete', 'delete unnoticed', 'edit', 'create without an id'],
    milliseconds: [20],
  };
  return runsOf(['sync'], ['reconcile'], ['webhooks'], ['sync', 'webhooks']).chain((runs) =>
    fc.tuple(
      episodeOf({ before: [odd, odd] }),
      episodeOf({ before: [{ ...then, count: [1, 2, 70] }, odd], runs }),
    ),
  );
}

/** A list lags behind a record that was copied before but has no id, or none that can be fetched. The record is not gone. */
export function oddRecordsBehind(): fc.Arbitrary<Episode[]> {
  const odd: Wish = {
    ...untold,
    what: ['create with an odd id', 'create without an id'],
    milliseconds: [20],
  };
  return fc
    .constantFrom(0.1, 0.5, 5)
    .chain((by) =>
      fc.tuple(
        episodeOf({}),
        episodeOf({ before: [odd, odd] }),
        episodeOf({ before: [incident('old lists', by)], runs: ['reconcile'] }),
        episodeOf({ before: [incident('old lists', 0)] }),
      ),
    );
}

/** A list lags behind a record that has never landed, and that only the list can show. The record is not gone. */
export function neverLandedBehind(): fc.Arbitrary<Episode[]> {
  const spoiled: Wish = { ...untold, what: ['create spoiled'], count: [1, 2], milliseconds: [20] };
  return fc
    .constantFrom(0.1, 0.5, 5)
    .chain((by) =>
      fc.tuple(
        episodeOf({}),
        episodeOf({ before: [spoiled, spoiled, spoiled] }),
        episodeOf({ before: [incident('old lists', by)], runs: ['reconcile'] }),
        episodeOf({ before: [incident('old lists', 0)] }),
      ),
    );
}

/** A deleted record lives again in a form that cannot be stored, and then is deleted or corrected. */
export function spoiledAtReturn(): fc.Arbitrary<Episode[]> {
  return fc
    .tuple(fc.nat({ max: 999 }), runsOf(['sync'], ['reconcile'], ['webhooks']))
    .chain(([place, runs]) => {
      const these: Wish = { which: [place], count: [1, 2], milliseconds: [20] };
      return fc.tuple(
        episodeOf({}),
        episodeOf({
          before: [
            { ...these, what: ['delete'] },
            { ...these, what: ['recreate'] },
            { ...these, what: ['spoil'] },
          ],
          runs: ['sync'],
        }),
        episodeOf({
          before: [{ ...these, what: ['delete unnoticed', 'delete unnoticed', 'delete', 'edit'] }],
          runs,
        }),
      );
    });
}

/** A subscription is deleted, and exists again with the version that it had. */
export function livesAsItWas(): fc.Arbitrary<Episode[]> {
  return fc.nat({ max: 999 }).chain((place) => {
    const these: Wish = { ...untold, which: [place], count: [1], milliseconds: [20] };
    return fc.tuple(
      episodeOf({}),
      episodeOf({ before: [{ ...these, what: ['delete unnoticed'] }], runs: ['reconcile'] }),
      episodeOf({ before: [{ ...these, what: ['recreate as it was', 'recreate'] }], runs: ['reconcile'] }),
    );
  });
}

/** A person deletes rows here, of records that live, are gone, or were gone and exist again. */
export function lostRows(): fc.Arbitrary<Episode[]> {
  const changed: Change['what'][][] = [
    ['delete unnoticed'],
    ['delete unnoticed'],
    ['edit', 'touch'],
    ['delete', 'recreate'],
  ];
  const runs = runsOf(['sync'], ['reconcile'], ['sync', 'reconcile'], ['backfill']);
  return fc
    .tuple(fc.nat({ max: 999 }), fc.constantFrom(...changed), runs, fc.boolean())
    .chain(([place, what, after, rebuilt]) => {
      const these: Wish = { ...untold, which: [place], count: [1, 2], milliseconds: [20] };
      return fc.tuple(
        episodeOf({}),
        episodeOf({ before: [{ ...these, what: ['delete'] }] }),
        episodeOf({ before: [{ ...these, what: ['recreate'] }] }),
        episodeOf({ before: [incident('lose rows'), { ...these, what }], runs: after }),
        episodeOf({ before: rebuilt ? [incident('rebuild')] : [] }),
      );
    });
}
