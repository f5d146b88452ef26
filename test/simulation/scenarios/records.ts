import fc from 'fast-check';
import type { ChangeConstraints } from '../arbitrary-change.ts';
import { arbitraryEpisode, incident, arbitraryRuns, withoutWebhook } from '../arbitrary-episode.ts';
import type { Change, Episode } from '../history.ts';

/** Webhooks arrive after what they report is over, such as a deletion when the record lives again. */
export function lateWebhooks(): fc.Arbitrary<Episode[]> {
  const runs = arbitraryRuns(['webhooks'], ['webhooks', 'sync'], ['webhooks', 'reconcile']);
  return fc.tuple(fc.nat({ max: 999 }), runs).chain(([place, kinds]) => {
    const mine: ChangeConstraints = { which: [place], count: [1, 2], milliseconds: [20], company: [0] };
    return fc.tuple(
      arbitraryEpisode({}),
      arbitraryEpisode({
        before: [
          { ...mine, what: ['delete', 'delete', 'edit'], webhook: ['next episode', 'two episodes later'] },
          { ...withoutWebhook, ...mine, what: ['recreate', 'edit'], webhook: ['lost'] },
        ],
        runs: ['sync'],
      }),
      arbitraryEpisode({ runs: kinds }),
      arbitraryEpisode({ runs: ['webhooks'] }),
    );
  });
}

/** Unexpected ids and texts, and records without an id. */
export function oddRecords(): fc.Arbitrary<Episode[]> {
  const odd: ChangeConstraints = {
    what: ['create with an odd id', 'create without an id', 'write odd texts'],
    milliseconds: [20],
  };
  const then: ChangeConstraints = {
    what: ['touch', 'delete', 'delete unnoticed', 'edit', 'create without an id'],
    milliseconds: [20],
  };
  return arbitraryRuns(['sync'], ['reconcile'], ['webhooks'], ['sync', 'webhooks']).chain((runs) =>
    fc.tuple(
      arbitraryEpisode({ before: [odd, odd] }),
      arbitraryEpisode({ before: [{ ...then, count: [1, 2, 70] }, odd], runs }),
    ),
  );
}

/** A list lags behind a record that was copied before but has no id, or none that can be fetched. The record is not gone. */
export function oddRecordsBehind(): fc.Arbitrary<Episode[]> {
  const odd: ChangeConstraints = {
    ...withoutWebhook,
    what: ['create with an odd id', 'create without an id'],
    milliseconds: [20],
  };
  return listedBehind([odd, odd]);
}

/** A list lags behind a record that has never landed, and that only the list can show. The record is not gone. */
export function neverLandedBehind(): fc.Arbitrary<Episode[]> {
  const spoiled: ChangeConstraints = {
    ...withoutWebhook,
    what: ['create spoiled'],
    count: [1, 2],
    milliseconds: [20],
  };
  return listedBehind([spoiled, spoiled, spoiled]);
}

/** Records are created, and a reconcile reads a list that lags behind them. */
function listedBehind(before: ChangeConstraints[]): fc.Arbitrary<Episode[]> {
  return fc
    .constantFrom(0.1, 0.5, 5)
    .chain((by) =>
      fc.tuple(
        arbitraryEpisode({}),
        arbitraryEpisode({ before }),
        arbitraryEpisode({ before: [incident('old lists', by)], runs: ['reconcile'] }),
        arbitraryEpisode({ before: [incident('old lists', 0)] }),
      ),
    );
}

/** A deleted record lives again in a form that cannot be stored, and then is deleted or corrected. */
export function spoiledAtReturn(): fc.Arbitrary<Episode[]> {
  return fc
    .tuple(fc.nat({ max: 999 }), arbitraryRuns(['sync'], ['reconcile'], ['webhooks']))
    .chain(([place, runs]) => {
      const these: ChangeConstraints = { which: [place], count: [1, 2], milliseconds: [20] };
      return fc.tuple(
        arbitraryEpisode({}),
        arbitraryEpisode({
          before: [
            { ...these, what: ['delete'] },
            { ...these, what: ['recreate'] },
            { ...these, what: ['spoil'] },
          ],
          runs: ['sync'],
        }),
        arbitraryEpisode({
          before: [{ ...these, what: ['delete unnoticed', 'delete unnoticed', 'delete', 'edit'] }],
          runs,
        }),
      );
    });
}

/** A subscription is deleted, and exists again with the version that it had. */
export function livesAsItWas(): fc.Arbitrary<Episode[]> {
  return fc.nat({ max: 999 }).chain((place) => {
    const these: ChangeConstraints = { ...withoutWebhook, which: [place], count: [1], milliseconds: [20] };
    return fc.tuple(
      arbitraryEpisode({}),
      arbitraryEpisode({ before: [{ ...these, what: ['delete unnoticed'] }], runs: ['reconcile'] }),
      arbitraryEpisode({
        before: [{ ...these, what: ['recreate as it was', 'recreate'] }],
        runs: ['reconcile'],
      }),
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
  const runs = arbitraryRuns(['sync'], ['reconcile'], ['sync', 'reconcile'], ['backfill']);
  return fc
    .tuple(fc.nat({ max: 999 }), fc.constantFrom(...changed), runs, fc.boolean())
    .chain(([place, what, after, rebuilt]) => {
      const these: ChangeConstraints = {
        ...withoutWebhook,
        which: [place],
        count: [1, 2],
        milliseconds: [20],
      };
      return fc.tuple(
        arbitraryEpisode({}),
        arbitraryEpisode({ before: [{ ...these, what: ['delete'] }] }),
        arbitraryEpisode({ before: [{ ...these, what: ['recreate'] }] }),
        arbitraryEpisode({ before: [incident('lose rows'), { ...these, what }], runs: after }),
        arbitraryEpisode({ before: rebuilt ? [incident('rebuild')] : [] }),
      );
    });
}
