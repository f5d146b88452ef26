import fc from 'fast-check';
import type { Wish } from '../arbitrary-change.ts';
import { episodeOf, fault, incident, runsOf, untold } from '../episode-of.ts';
import type { Episode, FaultKind, PlannedFault } from '../history.ts';

/** Existing lists answer 404 and 503 for a while. */
export function flippingLists(): fc.Arbitrary<Episode[]> {
  const edit: Wish = { ...untold, what: ['edit', 'create', 'delete unnoticed'], milliseconds: [20] };
  const paths = fc.constantFrom<PlannedFault['path'][]>('/', '/accounting', '/subscriptions', '/events');
  const runs = runsOf(['sync'], ['sync'], ['reconcile'], ['backfill']);
  return fc
    .tuple(paths, fc.nat({ max: 2 }), fc.constantFrom(1, 2, 40), runs)
    .chain(([path, after, times, kinds]) =>
      fc.tuple(
        episodeOf({}),
        episodeOf({
          before: [edit],
          runs: kinds,
          faults: [fault('404', { path, after, times }), fault('503', { path, after: after + 1, times: 2 })],
        }),
        episodeOf({ before: [edit], runs: ['sync'] }),
      ),
    );
}

/** Lists answer 404 from the beginning, to a run that may be ended from outside. The next run, in quiet times, finds them. */
export function missingAtFirst(): fc.Arbitrary<Episode[]> {
  return fc
    .tuple(
      fc.constantFrom<PlannedFault['path'][]>('/', '/accounting'),
      fc.constantFrom(1, 3, 8),
      runsOf(['terminated sync'], ['terminated sync', 'webhooks'], ['tick'], ['backfill']),
    )
    .chain(([path, times, runs]) =>
      fc.tuple(episodeOf({ runs, faults: [fault('404', { path, after: 0, times })] })),
    );
}

/** Fetches answer 404 for a moment, while they decide because a list lags. Deleted records stay deleted. */
export function flippingFetches(): fc.Arbitrary<Episode[]> {
  const young: Wish = { ...untold, what: ['create', 'edit', 'recreate'], milliseconds: [20, 15_000] };
  const gone: Wish = { ...untold, what: ['delete', 'delete unnoticed'], count: [1], milliseconds: [20] };
  const told: Wish = {
    what: ['edit', 'delete', 'recreate'],
    count: [1],
    milliseconds: [20],
    webhook: ['at once', 'next episode'],
    company: [0],
  };
  const runs = runsOf(['reconcile'], ['webhooks'], ['webhooks', 'reconcile']);
  return fc
    .tuple(fc.nat({ max: 2 }), fc.constantFrom(1, 1, 2), fc.constantFrom(0.5, 5), runs)
    .chain(([after, times, by, kinds]) =>
      fc.tuple(
        episodeOf({ before: [young] }),
        episodeOf({ before: [young, gone, told] }),
        episodeOf({
          before: [incident('old lists', by), told],
          runs: kinds,
          faults: [fault('404', { path: '/accounting/bills/', after, times })],
        }),
        episodeOf({ before: [incident('old lists', 0)], runs: ['webhooks', 'sync'] }),
      ),
    );
}

/** Lists show the past, by more or by less than the lookback; fetches and events do not. */
export function oldLists(): fc.Arbitrary<Episode[]> {
  const changed: Wish = {
    what: ['edit', 'create', 'delete', 'touch', 'create without an id'],
    milliseconds: [20, 15_000],
    webhook: ['at once'],
  };
  const minutes = fc.constantFrom(0.1, 0.5, 5, 20);
  return fc
    .tuple(minutes, runsOf(['webhooks', 'sync'], ['sync'], ['reconcile'], ['webhooks', 'reconcile']))
    .chain(([by, runs]) =>
      fc.tuple(
        episodeOf({}),
        episodeOf({ before: [changed] }),
        episodeOf({ before: [incident('old lists', by), changed, changed], runs: ['webhooks'] }),
        episodeOf({ before: [changed], runs }),
        episodeOf({ runs: ['reconcile'] }),
        episodeOf({ before: [incident('old lists', 0)] }),
      ),
    );
}

/** A run gives up on a list; the next run meets one more failure, and then all is well. */
export function givenUp(): fc.Arbitrary<Episode[]> {
  const edit: Wish = { ...untold, what: ['edit', 'create'], count: [4], milliseconds: [20] };
  return runsOf(['sync'], ['backfill']).chain((runs) =>
    fc.tuple(
      episodeOf({}),
      episodeOf({ before: [edit], runs, faults: [fault('500', { path: '/', after: 1, times: 40 })] }),
      episodeOf({ before: [edit], runs, faults: [fault('503', { path: '/', after: 0, times: 2 })] }),
    ),
  );
}

/** Runs give up one after the other behind a record dated in the future. Then its time has come, and the service is well. */
export function givenUpBehindFuture(): fc.Arbitrary<Episode[]> {
  const edit: Wish = { ...untold, what: ['edit', 'create', 'touch'], count: [4, 70], milliseconds: [20] };
  const down = fc.nat({ max: 4 }).map((after) => [fault('500', { path: '/', after, times: 60 })]);
  return fc.tuple(down, down).chain(([first, second]) =>
    fc.tuple(
      episodeOf({}),
      episodeOf({
        // More than a page of them, so that the list continues after one.
        before: [{ ...untold, what: ['create in the future'], count: [3, 70], milliseconds: [20] }, edit],
        faults: first,
      }),
      episodeOf({ before: [{ ...edit, count: [1] }], faults: second }),
      episodeOf({
        before: [edit, { ...untold, what: ['touch'], count: [1], milliseconds: [20, 8_400_000] }],
      }),
    ),
  );
}

/** A run stops in the middle of a list, and then the service forgets its cursors. */
export function forgottenCursors(): fc.Arbitrary<Episode[]> {
  const edit: Wish = { ...untold, what: ['edit', 'touch'], count: [70], milliseconds: [20] };
  return fc.integer({ min: 40, max: 80 }).chain((step) =>
    fc.tuple(
      episodeOf({}),
      episodeOf({
        before: [edit],
        runs: ['terminated sync'],
        kills: [{ step, how: 'before', stepsLeft: 1 }],
      }),
      episodeOf({ before: [incident('cursors break')] }),
      episodeOf({ before: [edit] }),
    ),
  );
}

/** The service asks workers with wrong clocks for minutes of silence. */
export function askedForSilence(): fc.Arbitrary<Episode[]> {
  const kinds = fc.constantFrom<FaultKind[]>('429', '429 for minutes', '429 until a date');
  const errors = fc.constantFrom(120, 120, -120, 0);
  return fc
    .tuple(kinds, errors, runsOf(['sync'], ['reconcile'], ['sync', 'webhooks']))
    .chain(([kind, by, runs]) =>
      fc.tuple(
        episodeOf({
          before: [
            { ...incident('worker clock', by), which: [0] },
            { ...incident('worker clock', by), which: [1] },
            { what: ['edit', 'create'], count: [4], milliseconds: [20], webhook: ['at once'] },
          ],
          runs,
          faults: [fault(kind, { path: '/', after: 1, times: 1 })],
        }),
        episodeOf({}),
      ),
    );
}
