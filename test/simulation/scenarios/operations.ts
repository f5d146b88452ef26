import fc from 'fast-check';
import type { ChangeConstraints } from '../arbitrary-change.ts';
import { arbitraryEpisode, fault, incident, arbitraryRuns, withoutWebhook } from '../arbitrary-episode.ts';
import type { Change, Episode, Kill, PlannedFault, RunKind } from '../history.ts';

/** A person sets the token of another company, and then the right one again. */
export function anotherCompany(): fc.Arbitrary<Episode[]> {
  const change: ChangeConstraints = {
    ...withoutWebhook,
    what: ['edit', 'delete', 'create'],
    milliseconds: [20],
    webhook: ['at once'],
  };
  return arbitraryRuns(['sync'], ['reconcile'], ['backfill'], ['webhooks'], ['sync', 'reconcile']).chain(
    (runs) =>
      fc.tuple(
        arbitraryEpisode({}),
        arbitraryEpisode({ before: [change, incident('foreign token')], runs }),
        arbitraryEpisode({ before: [incident('own token')], runs: ['sync'] }),
      ),
  );
}

/** The access token opens another company from the middle of a run, and its own again after the run. */
export function anotherCompanyMidway(): fc.Arbitrary<Episode[]> {
  const change: ChangeConstraints = {
    ...withoutWebhook,
    what: ['edit', 'delete', 'delete unnoticed', 'create'],
    milliseconds: [20, 700_000],
    webhook: ['lost', 'at once'],
  };
  const runs = arbitraryRuns(['sync'], ['reconcile'], ['backfill'], ['webhooks'], ['tick']);
  return fc.tuple(runs, fc.nat({ max: 12 })).chain(([kinds, after]) =>
    fc.tuple(
      arbitraryEpisode({}),
      arbitraryEpisode({
        before: [change, change],
        runs: kinds,
        faults: [fault('another company', { path: '/', after, times: 1 })],
      }),
      arbitraryEpisode({ before: [change], runs: kinds }),
    ),
  );
}

/** A person sets the token of another company, while the lists that would name the company answer 404. */
export function anotherCompanyUnnamed(): fc.Arbitrary<Episode[]> {
  const change: ChangeConstraints = { ...withoutWebhook, what: ['edit', 'create'], milliseconds: [20] };
  const missing = fault('404', { path: '/accounting', after: 0, times: 40 });
  return arbitraryRuns(['sync'], ['reconcile'], ['backfill'], ['tick']).chain((runs) =>
    fc.tuple(
      arbitraryEpisode({}),
      arbitraryEpisode({ before: [change, incident('foreign token')], runs, faults: [missing] }),
      arbitraryEpisode({ before: [incident('own token')], runs: ['sync'] }),
    ),
  );
}

/** No answer ever says which company the token opens. */
export function unnamedCompany(): fc.Arbitrary<Episode[]> {
  const change: ChangeConstraints = {
    ...withoutWebhook,
    what: ['create', 'edit', 'delete', 'recreate', 'spoil'],
    count: [1, 2, 4],
    milliseconds: [20, 700_000],
  };
  const runs = arbitraryRuns(['sync'], ['tick'], ['reconcile'], ['backfill'], ['sync', 'reconcile']);
  return fc
    .tuple(runs, runs)
    .chain(([first, second]) =>
      fc.tuple(
        arbitraryEpisode({ runs: first }),
        arbitraryEpisode({ before: [change, change], runs: second }),
        arbitraryEpisode({ before: [change], runs: first }),
      ),
    );
}

/** The connection is removed, its data are kept, and it is added again for the same company or for another one. */
export function addedAgain(): fc.Arbitrary<Episode[]> {
  const gone: ChangeConstraints = {
    ...withoutWebhook,
    what: ['delete', 'delete unnoticed'],
    count: [1, 2],
    milliseconds: [20],
  };
  const how = fc.constantFrom<Change['what'][]>('add again', 'add again with a foreign token');
  return fc.tuple(how, arbitraryRuns(['sync'], ['reconcile'])).chain(([what, runs]) =>
    fc.tuple(
      arbitraryEpisode({}),
      arbitraryEpisode({ before: [gone], runs: ['reconcile'] }),
      arbitraryEpisode({
        before: [incident(what), { ...withoutWebhook, what: ['edit', 'touch'], milliseconds: [20] }],
        runs,
      }),
    ),
  );
}

/** A person removes a connection and adds it again, while a run for it has an answer that it has not used yet or is retried. */
export function replaced(): fc.Arbitrary<Episode[]> {
  const change: ChangeConstraints = {
    what: ['create', 'edit', 'delete', 'recreate'],
    milliseconds: [20, 15_000],
  };
  const runs = arbitraryRuns(
    ...(['sync', 'reconcile', 'backfill', 'webhooks', 'tick'] as const).map((kind): RunKind[] => [
      kind,
      'replacement',
    ]),
  );
  const standstill = { changes: [change], answers: [1, 2, 3], steps: [40, 400] };
  return runs.chain((both) =>
    fc.tuple(
      arbitraryEpisode({ before: [change, change] }),
      arbitraryEpisode({ before: [change], runs: both, standstill }),
      arbitraryEpisode({ before: [change] }),
    ),
  );
}

/** Schedules fire, alone and beside other runs; the service answers with errors, and processes die. */
export function ticks(): fc.Arbitrary<Episode[]> {
  const change: ChangeConstraints = {
    what: ['create', 'edit', 'delete', 'recreate'],
    milliseconds: [20, 15_000],
  };
  const kill = fc.record<Kill>({
    step: fc.nat({ max: 150 }),
    how: fc.constantFrom('before', 'after', 'give up'),
    stepsLeft: fc.integer({ min: 1, max: 60 }),
  });
  const runs = arbitraryRuns(
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
        arbitraryEpisode({ before: [change], runs: first, kills, faults: troubles }),
        arbitraryEpisode({ before: [change, change], runs: second, kills }),
        arbitraryEpisode({
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

/** A person discards a record that cannot be stored; it is seen again, unchanged or in another form. */
export function discarded(): fc.Arbitrary<Episode[]> {
  return fc
    .tuple(fc.nat({ max: 999 }), arbitraryRuns(['sync'], ['reconcile'], ['webhooks']))
    .chain(([place, runs]) => {
      const these: ChangeConstraints = { which: [place], count: [2], milliseconds: [20] };
      return fc.tuple(
        arbitraryEpisode({ before: [{ ...these, what: ['spoil'] }] }),
        arbitraryEpisode({
          before: [incident('discard'), { ...these, what: ['touch', 'touch', 'edit', 'spoil', 'delete'] }],
          runs,
        }),
      );
    });
}

/** A person looks at the deletions that wait for approval, and approves them when others wait, or twice. */
export function staleApproval(): fc.Arbitrary<Episode[]> {
  return fc.tuple(fc.nat({ max: 999 }), fc.boolean()).chain(([place, twice]) => {
    const these: ChangeConstraints = { ...withoutWebhook, which: [place], milliseconds: [20] };
    return fc.tuple(
      arbitraryEpisode({
        before: [{ ...these, what: ['create'], count: [70] }],
      }),
      arbitraryEpisode({
        before: [{ ...these, what: ['delete unnoticed'], count: [60] }],
        runs: ['reconcile'],
      }),
      arbitraryEpisode({
        before: [incident('look at the question'), { ...these, what: ['delete unnoticed'], count: [70] }],
        runs: [twice ? 'stale approval' : 'reconcile'],
      }),
      arbitraryEpisode({ runs: ['stale approval'] }),
    );
  });
}

/** Several companies, if the history has several, run at the same time. */
export function severalAtOnce(): fc.Arbitrary<Episode[]> {
  const ofAnyCompany: ChangeConstraints = {
    what: ['edit', 'create', 'delete', 'spoil'],
    milliseconds: [0, 20],
    company: [0, 1, 2],
  };
  return fc
    .tuple(
      fc.constantFrom<RunKind[]>('sync', 'reconcile', 'backfill'),
      arbitraryRuns(['sync'], ['reconcile']),
    )
    .chain(([other, runs]) =>
      fc.tuple(
        arbitraryEpisode({
          beside: [
            { company: 1, run: 'sync' },
            { company: 2, run: 'sync' },
          ],
        }),
        arbitraryEpisode({
          before: [ofAnyCompany, ofAnyCompany, ofAnyCompany],
          runs,
          beside: [
            { company: 1, run: other },
            { company: 2, run: 'webhooks' },
          ],
        }),
      ),
    );
}
