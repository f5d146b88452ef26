import fc from 'fast-check';
import type { ChangeConstraints } from './arbitrary-change.ts';
import { arbitraryEpisode, withoutWebhook } from './arbitrary-episode.ts';
import type { Episode, FaultKind, RunKind } from './history.ts';

/** Episodes that provoke known bugs in copies of such services. Chance alone would find most of these bugs only once in hours. */
export const knownBugScenarios: fc.Arbitrary<Episode[]> = fc.oneof(
  sameMoment(),
  deletedMeanwhile(),
  deletedMeanwhile(),
  editedMeanwhile(),
  editedMeanwhile(),
  movedOverTheCursor(),
  movedOverTheCursor(),
  movedOverTheCursor(),
  movedOverTheCursor(),
  seenNowhere(),
  seenNowhere(),
  recreatedBeforeSync(),
  recreatedBeforeSync(),
  manyDeletions(),
  overDeleteLimit(),
  unstorable(),
  faultyList(),
  faultyList(),
  zombie(),
  zombie(),
);

/** More changes come in the very millisecond of the watermark, or as late as the lookback allows. */
function sameMoment(): fc.Arbitrary<Episode[]> {
  const later: ChangeConstraints = {
    what: ['create', 'create late'],
    count: [1, 2],
    milliseconds: [0],
    webhook: ['lost'],
  };
  return fc.tuple(
    arbitraryEpisode({
      before: [{ ...withoutWebhook, what: ['create', 'edit', 'touch'], milliseconds: [20] }],
    }),
    arbitraryEpisode({ before: [later] }),
  );
}

/** One run learns that records are gone while another has an unused answer that still has them. */
function deletedMeanwhile(): fc.Arbitrary<Episode[]> {
  const overtaken = fc.constantFrom<{ runs: RunKind[]; answers: number[] }[]>(
    { runs: ['sync', 'reconcile'], answers: [1] },
    { runs: ['sync', 'webhooks'], answers: [1] },
    // The last days are in its last window.
    { runs: ['backfill', 'reconcile'], answers: [2, 3, 4] },
    { runs: ['backfill', 'webhooks'], answers: [2, 3, 4] },
    { runs: ['backfill', 'sync'], answers: [2, 3, 4] },
    { runs: ['reconcile', 'sync'], answers: [1, 2, 3, 4] },
  );
  return fc.tuple(fc.nat({ max: 999 }), overtaken).chain(([place, { runs, answers }]) => {
    const these: ChangeConstraints = { which: [place], count: [2], milliseconds: [20] };
    const deletion: ChangeConstraints = {
      ...these,
      what: ['delete', 'delete unnoticed'],
      webhook: ['at once'],
    };
    return fc.tuple(
      arbitraryEpisode({ before: [{ ...withoutWebhook, what: ['create'], which: [place], count: [3] }] }),
      arbitraryEpisode({ before: [{ ...withoutWebhook, ...these, what: ['edit'] }] }),
      arbitraryEpisode({ runs, standstill: { answers, changes: [deletion], steps: [1000] } }),
    );
  });
}

/** One run learns of a newer version while another has an unused answer with the older one. */
function editedMeanwhile(): fc.Arbitrary<Episode[]> {
  const runKinds: RunKind[] = ['sync', 'backfill', 'reconcile', 'webhooks'];
  const overtaken = fc.shuffledSubarray(runKinds, { minLength: 2, maxLength: 2 });
  return fc.tuple(fc.nat({ max: 999 }), overtaken).chain(([place, runs]) => {
    const these: ChangeConstraints = { which: [place], count: [2], milliseconds: [20], webhook: ['at once'] };
    const newer: ChangeConstraints = { ...these, what: ['edit', 'edit', 'touch', 'spoil'] };
    return fc.tuple(
      arbitraryEpisode({}),
      arbitraryEpisode({
        before: [{ ...these, what: ['edit'] }],
        runs,
        standstill: { changes: [newer], steps: [1000] },
      }),
    );
  });
}

/** Records move within the order of the list while it is read. */
function movedOverTheCursor(): fc.Arbitrary<Episode[]> {
  const moves: ChangeConstraints = { ...withoutWebhook, milliseconds: [1, 20] };
  return fc.tuple(
    arbitraryEpisode({}),
    arbitraryEpisode({
      before: [{ ...withoutWebhook, what: ['touch', 'edit'], count: [4, 70], milliseconds: [20] }],
      standstill: {
        answers: [1, 2, 3],
        changes: [
          { ...moves, what: ['edit', 'edit', 'create'] },
          { ...moves, what: ['touch', 'touch', 'edit with an old time'] },
        ],
        steps: [0],
      },
    }),
  );
}

/** Records move into a part of the lists that was already read, or into the other list, while a reconcile reads. It sees them nowhere. */
function seenNowhere(): fc.Arbitrary<Episode[]> {
  const these: ChangeConstraints = { ...withoutWebhook, count: [70], milliseconds: [20] };
  return fc.tuple(
    arbitraryEpisode({ before: [{ ...withoutWebhook, what: ['create'], count: [3] }] }),
    arbitraryEpisode({
      runs: ['reconcile'],
      standstill: {
        answers: [1, 1, 2],
        changes: [
          { ...these, what: ['flip the type'] },
          { ...these, what: ['edit'] },
        ],
        steps: [0],
      },
    }),
  );
}

/** A record is deleted and lives again before anyone has looked. The report of its deletion comes later. */
function recreatedBeforeSync(): fc.Arbitrary<Episode[]> {
  const count = [1, 2];
  return fc.tuple(
    arbitraryEpisode({}),
    arbitraryEpisode({
      before: [
        { count, what: ['delete'], milliseconds: [20], webhook: ['lost', 'next episode'] },
        { ...withoutWebhook, count: [4], what: ['recreate'], milliseconds: [20] },
        { ...withoutWebhook, count: [4], what: ['touch', 'edit', 'spoil', 'spoil'], milliseconds: [20] },
      ],
    }),
    fc.constantFrom<RunKind[][]>(['webhooks'], ['sync']).chain((runs) => arbitraryEpisode({ runs })),
  );
}

/** More records are deleted than fit on a page, all within one lookback or none. */
function manyDeletions(): fc.Arbitrary<Episode[]> {
  const change: ChangeConstraints = {
    ...withoutWebhook,
    what: ['delete'],
    count: [2, 3, 4],
    milliseconds: [20, 20_000],
  };
  return fc.tuple(arbitraryEpisode({}), arbitraryEpisode({ before: [change, change] }));
}

/** So many records are gone that they may not be deleted without approval: everything, or most of many. */
function overDeleteLimit(): fc.Arbitrary<Episode[]> {
  const few = { created: 2, deleted: 70 };
  const many = { created: 70, deleted: 60 };
  return fc.tuple(fc.nat({ max: 999 }), fc.constantFrom(few, many)).chain(([place, { created, deleted }]) => {
    const these: ChangeConstraints = { ...withoutWebhook, which: [place], milliseconds: [20] };
    return fc.tuple(
      arbitraryEpisode({ before: [{ ...these, what: ['create'], count: [created] }] }),
      arbitraryEpisode({
        before: [{ ...these, what: ['delete unnoticed'], count: [deleted] }],
        runs: ['reconcile'],
      }),
    );
  });
}

/** A record cannot be stored for a while, or until it is gone. */
function unstorable(): fc.Arbitrary<Episode[]> {
  const then: ChangeConstraints = {
    what: ['edit', 'delete', 'delete unnoticed', 'touch'],
    milliseconds: [20],
  };
  return fc.tuple(
    arbitraryEpisode({
      before: [
        { ...withoutWebhook, what: ['create'], milliseconds: [20] },
        { what: ['spoil'], milliseconds: [20] },
      ],
    }),
    fc
      .constantFrom<RunKind[][]>(['sync'], ['reconcile'], ['webhooks'])
      .chain((runs) => arbitraryEpisode({ before: [then], runs })),
  );
}

/** A list shows less than exists, in the ways of real services. */
function faultyList(): fc.Arbitrary<Episode[]> {
  const fault = fc.record({
    kind: fc.constantFrom<FaultKind[]>(
      '404',
      '404',
      'empty page',
      'empty page',
      'short page',
      'repeated cursor',
    ),
    after: fc.nat({ max: 2 }),
    times: fc.constantFrom(1, 2),
    path: fc.constant('/accounting' as const),
  });
  const news: ChangeConstraints = { ...withoutWebhook, what: ['create', 'edit'], count: [2, 4] };
  return fc
    .constantFrom<RunKind[][]>(['sync'], ['sync'], ['reconcile'])
    .chain((runs) => fc.tuple(fault, arbitraryEpisode({ before: [news], runs })))
    .map(([planned, one]) => [{ ...one, faults: [planned] }]);
}

/** A given-up process has an answer that it has not used yet. It dies while landing it, or lands it while its successor works. */
function zombie(): fc.Arbitrary<Episode[]> {
  const changes: ChangeConstraints[] = [
    { ...withoutWebhook, what: ['edit', 'create', 'delete'], milliseconds: [1] },
  ];
  return fc.constantFrom<RunKind[][]>(['sync'], ['reconcile'], ['backfill']).chain((runs) =>
    fc.tuple(
      arbitraryEpisode({
        before: [{ ...withoutWebhook, what: ['touch', 'edit'], count: [4, 70], milliseconds: [20] }],
        runs,
        standstill: { changes, steps: [0, 0, 5, 15, 30], stepsLeft: [2, 4, 6, 8, 10, 12, 40, 40, 40, 40] },
      }),
    ),
  );
}
