import fc from 'fast-check';
import type { Wish } from './arbitrary-change.ts';
import { episodeOf, incident, untold } from './episode-of.ts';
import type { Change, Episode, FaultKind, Kill, PlannedFault, RunKind } from './history.ts';

/** Ways in which a source, a clock or a person leads a copy astray, each as the episodes that lead up to it; by name. */
export const lies: Readonly<Record<string, fc.Arbitrary<Episode[]>>> = {
  anotherCompany: anotherCompany(),
  addedAgain: addedAgain(),
  flippingLists: fc.oneof(flippingLists(), missingAtFirst()),
  flippingFetches: flippingFetches(),
  correctedService: correctedService(),
  correctedMidway: correctedMidway(),
  correctedPlatform: correctedPlatform(),
  longPause: longPause(),
  pausedTwice: pausedTwice(),
  untoldTime: fc.oneof(longPause(), pausedTwice()),
  lateStep: lateStep(),
  lateWebhooks: lateWebhooks(),
  latePageOfGone: latePageOfGone(),
  untoldLatePage: latePageOfGone(),
  overtakenAttempt: overtakenAttempt(),
  interruptedDeletion: interruptedDeletion(),
  sleptBeforeProof: sleptBeforeProof(),
  future: future(),
  databaseAhead: databaseAhead(),
  givenUp: givenUp(),
  givenUpBehindFuture: givenUpBehindFuture(),
  forgottenCursors: forgottenCursors(),
  askedForSilence: askedForSilence(),
  oddRecords: oddRecords(),
  spoiledAtReturn: spoiledAtReturn(),
  spoiledMeanwhile: spoiledMeanwhile(),
  discarded: discarded(),
  livesAsItWas: livesAsItWas(),
  lostRows: lostRows(),
  staleApproval: staleApproval(),
  oldLists: oldLists(),
  severalAtOnce: severalAtOnce(),
  ticks: ticks(),
  replaced: replaced(),
};

/** Somebody removes a connection and adds it again, while a run for it has an answer in hand or is tried again. */
function replaced(): fc.Arbitrary<Episode[]> {
  const change: Wish = { what: ['create', 'edit', 'delete', 'recreate'], milliseconds: [20, 15_000] };
  const runs = runsOf(
    ...(['sync', 'reconcile', 'backfill', 'webhooks', 'tick'] as const).map((kind): RunKind[] => [
      kind,
      'replacement',
    ]),
  );
  const standstill = { changes: [change], answers: [1, 2, 3], steps: [40, 400] };
  return runs.chain((both) =>
    fc.tuple(
      episodeOf({ before: [change, change] }),
      episodeOf({ before: [change], runs: both, standstill }),
      episodeOf({ before: [change] }),
    ),
  );
}

/** Schedules fire, alone and beside what else runs; the service does not answer well, and processes die. */
function ticks(): fc.Arbitrary<Episode[]> {
  const change: Wish = { what: ['create', 'edit', 'delete', 'recreate'], milliseconds: [20, 15_000] };
  const kill = fc.record<Kill>({
    step: fc.nat({ max: 150 }),
    how: fc.constantFrom('before', 'after', 'give up'),
    stepsLeft: fc.integer({ min: 1, max: 60 }),
  });
  const runs = runsOf(
    ['tick'],
    ['tick'],
    ['tick', 'sync'],
    ['sync', 'tick'],
    ['tick', 'reconcile', 'webhooks'],
  );
  const faults = fc.constantFrom<PlannedFault[][]>(
    ...[[], [], [fault('429', { path: '/', after: 3, times: 1 })]],
    ...[
      [fault('503', { path: '/accounting', after: 2, times: 2 })],
      [fault('not ready', { path: '/', after: 1, times: 2 })],
    ],
  );
  return fc
    .tuple(runs, runs, faults, fc.array(kill, { maxLength: 3 }), fc.constantFrom(null, 1, 4, 7))
    .chain(([first, second, troubles, kills, answers]) =>
      fc.tuple(
        episodeOf({ before: [change], runs: first, kills, faults: troubles }),
        episodeOf({ before: [change, change], runs: second, kills }),
        episodeOf({
          before: [change],
          runs: ['tick', 'sync'],
          ...(answers === null
            ? {}
            : {
                standstill: { changes: [change], answers: [answers], steps: [20, 200], stepsLeft: [5, 100] },
              }),
        }),
      ),
    );
}

/** Somebody sets the token of another company, and the right one again. */
function anotherCompany(): fc.Arbitrary<Episode[]> {
  const change: Wish = {
    ...untold,
    what: ['edit', 'delete', 'create'],
    milliseconds: [20],
    webhook: ['at once'],
  };
  return runsOf(['sync'], ['reconcile'], ['backfill'], ['webhooks'], ['sync', 'reconcile']).chain((runs) =>
    fc.tuple(
      episodeOf({}),
      episodeOf({ before: [change, incident('foreign token')], runs }),
      episodeOf({ before: [incident('own token')], runs: ['sync'] }),
    ),
  );
}

/** The connection is removed, its data stay, and it is added again: for the same company, or for another one. */
function addedAgain(): fc.Arbitrary<Episode[]> {
  const gone: Wish = { ...untold, what: ['delete', 'delete unnoticed'], count: [1, 2], milliseconds: [20] };
  const how = fc.constantFrom<Change['what'][]>('add again', 'add again with a foreign token');
  return fc.tuple(how, runsOf(['sync'], ['reconcile'])).chain(([what, runs]) =>
    fc.tuple(
      episodeOf({}),
      episodeOf({ before: [gone], runs: ['reconcile'] }),
      episodeOf({
        before: [incident(what), { ...untold, what: ['edit', 'touch'], milliseconds: [20] }],
        runs,
      }),
    ),
  );
}

/** Fetches answer 404 for a moment, while a list that lags makes them decide; what is gone is gone. */
function flippingFetches(): fc.Arbitrary<Episode[]> {
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

/** Lists that were there answer 404 and 503 for a while. */
function flippingLists(): fc.Arbitrary<Episode[]> {
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

/** Lists answer 404 from the beginning, to a run that may be ended from outside; the next one, in quiet times, finds them. */
function missingAtFirst(): fc.Arbitrary<Episode[]> {
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

/** The service's clock is hours ahead for a while, and then put right: versions go back. */
function correctedService(): fc.Arbitrary<Episode[]> {
  return fc.tuple(fc.nat({ max: 999 }), runsOf(['sync'], ['reconcile'])).chain(([place, runs]) => {
    const these: Wish = { ...untold, which: [place], count: [3], milliseconds: [20] };
    return fc.tuple(
      episodeOf({}),
      episodeOf({
        before: [incident('service clock', 120), { ...these, what: ['edit', 'create', 'delete'] }],
        runs: ['sync'],
      }),
      episodeOf({
        before: [
          incident('service clock', 0),
          { ...these, what: ['edit', 'recreate', 'touch', 'delete'] },
          // Before the next run time may have caught up with what the clock has shown.
          { ...untold, what: ['touch'], count: [1], milliseconds: [20, 8_400_000] },
        ],
        runs,
      }),
    );
  });
}

/** The service puts its clock back while a page waits in hand, or the host sleeps between any two steps, and records come in a time that it tells twice. */
function correctedMidway(): fc.Arbitrary<Episode[]> {
  const late: Wish = { ...untold, what: ['create late', 'create'], milliseconds: [20, 700_000] };
  const next: Wish = { ...untold, what: ['touch', 'create'], count: [1], milliseconds: [20, 8_400_000] };
  return fc.tuple(fc.constantFrom(-120, -10, -1), fc.boolean()).chain(([by, asleep]) => {
    const changes = [incident('service clock', by), late, late];
    return fc.tuple(
      // Before it was connected the company was not ready.
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

/** One record's version goes back, as when the platform's clock was wrong when it was written; it may have been deleted, and made again, before. */
function correctedPlatform(): fc.Arbitrary<Episode[]> {
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

/** A pass stands still for longer than the lookback, while records come late behind its place and new ones before it. */
function longPause(): fc.Arbitrary<Episode[]> {
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

/** A pass pauses for less than the lookback while records come late, is left after one more page, and goes on long after. */
function pausedTwice(): fc.Arbitrary<Episode[]> {
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

/** A step of a reconcile is given up, wherever it stands; it goes on when the resource is listed anew, or the run is over. */
function lateStep(): fc.Arbitrary<Episode[]> {
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

/** Webhooks come when what they tell of is over: of a deletion, when the record lives again. */
function lateWebhooks(): fc.Arbitrary<Episode[]> {
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

/** A page of good versions waits in hand, while a webhook brings one that cannot be stored. */
function spoiledMeanwhile(): fc.Arbitrary<Episode[]> {
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

/** A page of newer versions waits in hand while a reconcile finds out that the records are gone; where the service tells no time, nothing says since when. */
function latePageOfGone(): fc.Arbitrary<Episode[]> {
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

/** An attempt that reads pages is given up with one in hand, and lands it when the next attempt reads. */
function overtakenAttempt(): fc.Arbitrary<Episode[]> {
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

/** A reconcile is given up once it has deleted some, as many as it may; while nobody goes on with it as many more go. */
function interruptedDeletion(): fc.Arbitrary<Episode[]> {
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
        answers: upTo(30),
        changes: [{ ...gone, milliseconds: [700_000, 7_200_000] }],
        steps: [0],
        stepsLeft: [0],
      },
    }),
  );
}

/** A host sleeps before a reconcile deletes or proves anything: with its clock, or not; what another one had asked for is not answered by that. */
function sleptBeforeProof(): fc.Arbitrary<Episode[]> {
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
        standstill: {
          activities: ['findAbsent', 'confirmByFetch', 'settleResource', 'settleResource'],
          answers: upTo(16),
          changes: [asleep, again],
          steps: [0],
        },
      }),
    ),
  );
}

/** 1 and what follows. */
function upTo(last: number): number[] {
  return Array.from({ length: last }, (_, place) => place + 1);
}

/** Versions that are still to come. */
function future(): fc.Arbitrary<Episode[]> {
  const edit: Wish = { ...untold, what: ['edit', 'create'], milliseconds: [20, 15_000] };
  return fc.tuple(
    episodeOf({}),
    episodeOf({
      before: [{ ...untold, what: ['edit in the future', 'create in the future'], milliseconds: [20] }],
    }),
    episodeOf({ before: [edit] }),
  );
}

/** Postgres's clock is hours ahead for a while; contents come back that were there before, and records go. */
function databaseAhead(): fc.Arbitrary<Episode[]> {
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

/** A run gives a list up; the next one meets one failure more, and then all is well. */
function givenUp(): fc.Arbitrary<Episode[]> {
  const edit: Wish = { ...untold, what: ['edit', 'create'], count: [4], milliseconds: [20] };
  return runsOf(['sync'], ['backfill']).chain((runs) =>
    fc.tuple(
      episodeOf({}),
      episodeOf({ before: [edit], runs, faults: [fault('500', { path: '/', after: 1, times: 40 })] }),
      episodeOf({ before: [edit], runs, faults: [fault('503', { path: '/', after: 0, times: 2 })] }),
    ),
  );
}

/** Runs give up one after the other behind a record of the future; then it is no longer of the future, and the service is well. */
function givenUpBehindFuture(): fc.Arbitrary<Episode[]> {
  const edit: Wish = { ...untold, what: ['edit', 'create', 'touch'], count: [4, 70], milliseconds: [20] };
  const down = fc.nat({ max: 4 }).map((after) => [fault('500', { path: '/', after, times: 60 })]);
  return fc.tuple(down, down).chain(([first, second]) =>
    fc.tuple(
      episodeOf({}),
      episodeOf({
        // More than a page of them, so that the list goes on behind one.
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

/** A run is left in the middle of a list, and then the service forgets what its cursors meant. */
function forgottenCursors(): fc.Arbitrary<Episode[]> {
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

/** The service asks for minutes of silence, of workers whose clocks are wrong. */
function askedForSilence(): fc.Arbitrary<Episode[]> {
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

/** Ids and texts that nobody thinks of, and records that have none. */
function oddRecords(): fc.Arbitrary<Episode[]> {
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

/** What was deleted lives again in a form that cannot be stored, and is gone, or is put right. */
function spoiledAtReturn(): fc.Arbitrary<Episode[]> {
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

/** A person discards what cannot be stored; it is seen again, as it was or in another form. */
function discarded(): fc.Arbitrary<Episode[]> {
  return fc
    .tuple(fc.nat({ max: 999 }), runsOf(['sync'], ['reconcile'], ['webhooks']))
    .chain(([place, runs]) => {
      const these: Wish = { which: [place], count: [2], milliseconds: [20] };
      return fc.tuple(
        episodeOf({ before: [{ ...these, what: ['spoil'] }] }),
        episodeOf({
          before: [incident('discard'), { ...these, what: ['touch', 'touch', 'edit', 'spoil', 'delete'] }],
          runs,
        }),
      );
    });
}

/** A subscription is gone, and is there again with the version that it had. */
function livesAsItWas(): fc.Arbitrary<Episode[]> {
  return fc.nat({ max: 999 }).chain((place) => {
    const these: Wish = { ...untold, which: [place], count: [1], milliseconds: [20] };
    return fc.tuple(
      episodeOf({}),
      episodeOf({ before: [{ ...these, what: ['delete unnoticed'] }], runs: ['reconcile'] }),
      episodeOf({ before: [{ ...these, what: ['recreate as it was', 'recreate'] }], runs: ['reconcile'] }),
    );
  });
}

/** Somebody deletes rows here, of records that live, are gone, or are gone and there again. */
function lostRows(): fc.Arbitrary<Episode[]> {
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

/** Somebody looks at what waits for approval, and approves it when something else waits, or twice. */
function staleApproval(): fc.Arbitrary<Episode[]> {
  return fc.tuple(fc.nat({ max: 999 }), fc.boolean()).chain(([place, twice]) => {
    const these: Wish = { ...untold, which: [place], milliseconds: [20] };
    return fc.tuple(
      episodeOf({
        before: [{ ...these, what: ['create'], count: [70] }],
      }),
      episodeOf({ before: [{ ...these, what: ['delete unnoticed'], count: [60] }], runs: ['reconcile'] }),
      episodeOf({
        before: [incident('look at the question'), { ...these, what: ['delete unnoticed'], count: [70] }],
        runs: [twice ? 'stale approval' : 'reconcile'],
      }),
      episodeOf({ runs: ['stale approval'] }),
    );
  });
}

/** Lists show the past, by more or by less than the lookback; fetches and events do not. */
function oldLists(): fc.Arbitrary<Episode[]> {
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

/** Runs of several companies at the same time, where there are several. */
function severalAtOnce(): fc.Arbitrary<Episode[]> {
  const anybodys: Wish = {
    what: ['edit', 'create', 'delete', 'spoil'],
    milliseconds: [0, 20],
    company: [0, 1, 2],
  };
  return fc
    .tuple(fc.constantFrom<RunKind[]>('sync', 'reconcile', 'backfill'), runsOf(['sync'], ['reconcile']))
    .chain(([other, runs]) =>
      fc.tuple(
        episodeOf({
          beside: [
            { company: 1, run: 'sync' },
            { company: 2, run: 'sync' },
          ],
        }),
        episodeOf({
          before: [anybodys, anybodys, anybodys],
          runs,
          beside: [
            { company: 1, run: other },
            { company: 2, run: 'webhooks' },
          ],
        }),
      ),
    );
}

function runsOf(...kinds: RunKind[][]): fc.Arbitrary<RunKind[]> {
  return fc.constantFrom(...kinds);
}

function fault(
  kind: FaultKind,
  where: { path: PlannedFault['path']; after: number; times: number },
): PlannedFault {
  return { kind, ...where };
}
