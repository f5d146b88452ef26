import fc from 'fast-check';
import type { ChangeConstraints } from '../arbitrary-change.ts';
import { arbitraryEpisode, fault, incident, arbitraryRuns, withoutWebhook } from '../arbitrary-episode.ts';
import type { Episode, FaultKind, PlannedFault } from '../history.ts';

/** Existing lists answer 404 and 503 for a while. */
export function flippingLists(): fc.Arbitrary<Episode[]> {
  const edit: ChangeConstraints = {
    ...withoutWebhook,
    what: ['edit', 'create', 'delete unnoticed'],
    milliseconds: [20],
  };
  const paths = fc.constantFrom<PlannedFault['path'][]>('/', '/accounting', '/subscriptions', '/events');
  const runs = arbitraryRuns(['sync'], ['sync'], ['reconcile'], ['backfill']);
  return fc
    .tuple(paths, fc.nat({ max: 2 }), fc.constantFrom(1, 2, 40), runs)
    .chain(([path, after, times, kinds]) =>
      fc.tuple(
        arbitraryEpisode({}),
        arbitraryEpisode({
          before: [edit],
          runs: kinds,
          faults: [fault('404', { path, after, times }), fault('503', { path, after: after + 1, times: 2 })],
        }),
        arbitraryEpisode({ before: [edit], runs: ['sync'] }),
      ),
    );
}

/** Lists answer 404 from the beginning, to a run that may be ended from outside. The next run, without faults, finds them. */
export function missingAtFirst(): fc.Arbitrary<Episode[]> {
  return fc
    .tuple(
      fc.constantFrom<PlannedFault['path'][]>('/', '/accounting'),
      fc.constantFrom(1, 3, 8),
      arbitraryRuns(['terminated sync'], ['terminated sync', 'webhooks'], ['tick'], ['backfill']),
    )
    .chain(([path, times, runs]) =>
      fc.tuple(arbitraryEpisode({ runs, faults: [fault('404', { path, after: 0, times })] })),
    );
}

/** Fetches answer 404 for a moment, while they decide because a list lags. Deleted records stay deleted. */
export function flippingFetches(): fc.Arbitrary<Episode[]> {
  const young: ChangeConstraints = {
    ...withoutWebhook,
    what: ['create', 'edit', 'recreate'],
    milliseconds: [20, 15_000],
  };
  const gone: ChangeConstraints = {
    ...withoutWebhook,
    what: ['delete', 'delete unnoticed'],
    count: [1],
    milliseconds: [20],
  };
  const announced: ChangeConstraints = {
    what: ['edit', 'delete', 'recreate'],
    count: [1],
    milliseconds: [20],
    webhook: ['at once', 'next episode'],
    company: [0],
  };
  const runs = arbitraryRuns(['reconcile'], ['webhooks'], ['webhooks', 'reconcile']);
  return fc
    .tuple(fc.nat({ max: 2 }), fc.constantFrom(1, 1, 2), fc.constantFrom(0.5, 5), runs)
    .chain(([after, times, by, kinds]) =>
      fc.tuple(
        arbitraryEpisode({ before: [young] }),
        arbitraryEpisode({ before: [young, gone, announced] }),
        arbitraryEpisode({
          before: [incident('old lists', by), announced],
          runs: kinds,
          faults: [fault('404', { path: '/accounting/bills/', after, times })],
        }),
        arbitraryEpisode({ before: [incident('old lists', 0)], runs: ['webhooks', 'sync'] }),
      ),
    );
}

/** Lists show the past, by more or by less than the lookback; fetches and events do not. */
export function oldLists(): fc.Arbitrary<Episode[]> {
  const changed: ChangeConstraints = {
    what: ['edit', 'create', 'delete', 'touch', 'create without an id'],
    milliseconds: [20, 15_000],
    webhook: ['at once'],
  };
  const minutes = fc.constantFrom(0.1, 0.5, 5, 20);
  return fc
    .tuple(minutes, arbitraryRuns(['webhooks', 'sync'], ['sync'], ['reconcile'], ['webhooks', 'reconcile']))
    .chain(([by, runs]) =>
      fc.tuple(
        arbitraryEpisode({}),
        arbitraryEpisode({ before: [changed] }),
        arbitraryEpisode({ before: [incident('old lists', by), changed, changed], runs: ['webhooks'] }),
        arbitraryEpisode({ before: [changed], runs }),
        arbitraryEpisode({ runs: ['reconcile'] }),
        arbitraryEpisode({ before: [incident('old lists', 0)] }),
      ),
    );
}

/** A run gives up on a list; the next run meets one more failure, and then there are no more faults. */
export function givenUp(): fc.Arbitrary<Episode[]> {
  const edit: ChangeConstraints = {
    ...withoutWebhook,
    what: ['edit', 'create'],
    count: [4],
    milliseconds: [20],
  };
  return arbitraryRuns(['sync'], ['backfill']).chain((runs) =>
    fc.tuple(
      arbitraryEpisode({}),
      arbitraryEpisode({ before: [edit], runs, faults: [fault('500', { path: '/', after: 1, times: 40 })] }),
      arbitraryEpisode({ before: [edit], runs, faults: [fault('503', { path: '/', after: 0, times: 2 })] }),
    ),
  );
}

/** Runs give up one after the other behind a record dated in the future. Then that date has passed, and there are no more faults. */
export function givenUpBehindFuture(): fc.Arbitrary<Episode[]> {
  const edit: ChangeConstraints = {
    ...withoutWebhook,
    what: ['edit', 'create', 'touch'],
    count: [4, 70],
    milliseconds: [20],
  };
  const down = fc.nat({ max: 4 }).map((after) => [fault('500', { path: '/', after, times: 60 })]);
  return fc.tuple(down, down).chain(([first, second]) =>
    fc.tuple(
      arbitraryEpisode({}),
      arbitraryEpisode({
        // More than a page of them, so that the list continues after one.
        before: [
          { ...withoutWebhook, what: ['create in the future'], count: [3, 70], milliseconds: [20] },
          edit,
        ],
        faults: first,
      }),
      arbitraryEpisode({ before: [{ ...edit, count: [1] }], faults: second }),
      arbitraryEpisode({
        before: [edit, { ...withoutWebhook, what: ['touch'], count: [1], milliseconds: [20, 8_400_000] }],
      }),
    ),
  );
}

/** A run stops in the middle of a list, and then the service forgets its cursors. */
export function forgottenCursors(): fc.Arbitrary<Episode[]> {
  const edit: ChangeConstraints = {
    ...withoutWebhook,
    what: ['edit', 'touch'],
    count: [70],
    milliseconds: [20],
  };
  return fc.integer({ min: 40, max: 80 }).chain((step) =>
    fc.tuple(
      arbitraryEpisode({}),
      arbitraryEpisode({
        before: [edit],
        runs: ['terminated sync'],
        kills: [{ step, how: 'before', stepsLeft: 1 }],
      }),
      arbitraryEpisode({ before: [incident('cursors break')] }),
      arbitraryEpisode({ before: [edit] }),
    ),
  );
}

/** The service asks workers with wrong clocks for minutes of silence. */
export function askedForSilence(): fc.Arbitrary<Episode[]> {
  const kinds = fc.constantFrom<FaultKind[]>('429', '429 for minutes', '429 until a date');
  const errors = fc.constantFrom(120, 120, -120, 0);
  return fc
    .tuple(kinds, errors, arbitraryRuns(['sync'], ['reconcile'], ['sync', 'webhooks']))
    .chain(([kind, by, runs]) =>
      fc.tuple(
        arbitraryEpisode({
          before: [
            { ...incident('worker clock', by), which: [0] },
            { ...incident('worker clock', by), which: [1] },
            { what: ['edit', 'create'], count: [4], milliseconds: [20], webhook: ['at once'] },
          ],
          runs,
          faults: [fault(kind, { path: '/', after: 1, times: 1 })],
        }),
        arbitraryEpisode({}),
      ),
    );
}
