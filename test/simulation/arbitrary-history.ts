import fc from 'fast-check';
import type { ResourceName } from '../../sandbox/api/resources.ts';
import { arbitraryChange } from './arbitrary-change.ts';
import {
  faultKinds,
  platforms,
  runKinds,
  type Change,
  type Episode,
  type History,
  type RunKind,
} from './history.ts';
import { scenarios } from './scenarios/index.ts';
import { knownBugScenarios } from './known-bug-scenarios.ts';

const step = fc.oneof(fc.nat({ max: 30 }), fc.nat({ max: 200 }));

const fault = fc.record({
  kind: fc.constantFrom(...faultKinds),
  after: fc.nat({ max: 6 }),
  times: fc.constantFrom(1, 2, 3, 40),
  path: fc.constantFrom(
    '/',
    '/accounting',
    '/accounting/bills',
    '/accounting/bills/',
    '/events',
    '/subscriptions',
  ),
});

const kill = fc.record({
  step,
  how: fc.constantFrom('before', 'after', 'give up', 'lose'),
  stepsLeft: fc.integer({ min: 1, max: 25 }),
});

/** An episode in which anything may happen. */
const anything: fc.Arbitrary<Episode> = fc.record({
  before: fc.array(arbitraryChange(), { maxLength: 4 }),
  faults: sometimes(fc.array(fault, { maxLength: 2 }), 33),
  runs: fc.oneof(
    { arbitrary: fc.constant<RunKind[]>(['sync']), weight: 2 },
    {
      arbitrary: fc.uniqueArray(fc.constantFrom(...runKinds), {
        minLength: 1,
        maxLength: 3,
        selector: workflowKind,
      }),
      weight: 3,
    },
  ),
  meanwhile: fc.array(fc.record({ step, change: arbitraryChange() }), { maxLength: 4 }),
  kills: sometimes(fc.array(kill, { maxLength: 3 }), 50),
  standstill: fc.constant(null),
  beside: fc
    .array(fc.record({ company: fc.constantFrom(1, 2), run: fc.constantFrom(...runKinds) }), { maxLength: 2 })
    .map(oncePerCompany),
  schedule: fc.nat(),
});

/** Keeps one run per company: more would only take time. */
function oncePerCompany(beside: NonNullable<Episode['beside']>): NonNullable<Episode['beside']> {
  return beside.filter(({ company }, place) => beside.findIndex((one) => one.company === company) === place);
}

/** Temporal never runs two of one kind at once. */
function workflowKind(kind: RunKind): string {
  return kind.split(' ').at(-1) ?? kind;
}

function sometimes<Element>(list: fc.Arbitrary<Element[]>, percent: number): fc.Arbitrary<Element[]> {
  return fc.oneof(
    { arbitrary: fc.constant<Element[]>([]), weight: 100 - percent },
    { arbitrary: list, weight: percent },
  );
}

const often: ResourceName[] = ['bills', 'expenses', 'expenses'];
const seldom: ResourceName[] = ['bill_credit_memos', 'customers', 'items', 'subscriptions', 'subscriptions'];

const someResources = fc.uniqueArray(
  fc.oneof(
    { arbitrary: fc.constantFrom(...often), weight: 3 },
    { arbitrary: fc.constantFrom(...seldom), weight: 1 },
  ),
  { minLength: 1, maxLength: 2 },
);

/** Any history, or with `about` one of only the named scenario: see `scenarios`. */
export function histories(about?: string): fc.Arbitrary<History> {
  const any = fc.record({
    platform:
      about === 'unnamedCompany'
        ? fc.constant('STRIPE' as const)
        : fc.oneof(
            { arbitrary: fc.constantFrom('QUICKBOOKS', 'NETSUITE'), weight: 3 },
            { arbitrary: fc.constantFrom(...platforms), weight: 1 },
          ),
    resources:
      about !== undefined && subscriptionScenarios.has(about)
        ? fc.constantFrom<ResourceName[][]>(['bills', 'subscriptions'], ['subscriptions'])
        : someResources,
    pageSize: fc.constantFrom(1, 2, 3, 7, 500),
    records: fc.nat({ max: 8 }),
    skewHours: fc.constantFrom(0, -30, 30),
    lookbackSeconds: fc.constantFrom(0, 0, 10, 600),
    cursor: fc.constantFrom('value', 'value', 'row'),
    lastCursor: fc.constantFrom('null', 'absent', 'empty'),
    missingRecordStatus: fc.constantFrom(404, 410),
    snapshot: fc.constantFrom(false, false, false, true),
    // One in six has several companies, because three companies take three times as long.
    companies: fc.constantFrom(1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 3),
    anonymous: about !== undefined && anonymousScenarios.has(about) ? fc.constant(true) : fc.boolean(),
    dateless:
      about !== undefined && datelessScenarios.has(about)
        ? fc.constant(true)
        : fc.constantFrom(false, false, false, false, false, false, false, true),
    expands: fc.constantFrom(false, false, true),
    rebuild: fc.constantFrom(false, false, false, true),
    resets: fc.constantFrom(false, false, true),
    episodes: about === undefined ? episodes : scenarioNamed(about),
  });
  return any
    .map((history) =>
      history.dateless && history.episodes.some(hasWrongTimes) ? { ...history, dateless: false } : history,
    )
    .map((history) =>
      // Stripe has no other resource.
      history.platform === 'STRIPE' && !history.resources.includes('subscriptions')
        ? { ...history, resources: ['subscriptions'] }
        : history,
    );
}

/** Scenarios that are most effective when the service does not tell its time. */
const datelessScenarios: ReadonlySet<string> = new Set(['untoldTime', 'untoldLatePage']);

/** Scenarios that are most effective in a list that is the only source for its records. */
const subscriptionScenarios: ReadonlySet<string> = new Set([
  'anotherCompanyMidway',
  'anotherCompanyUnnamed',
  'neverLandedBehind',
  'sleptBeforeName',
]);

/** Scenarios that are most effective in a list that does not name its company. */
const anonymousScenarios: ReadonlySet<string> = new Set([
  'anotherCompanyMidway',
  'anotherCompanyUnnamed',
  'unnamedCompany',
  'sleptBeforeName',
]);

/** Whether the episode has wrong clocks, wrong versions or old lists. If the service does not tell its time, nothing can reveal them. */
function hasWrongTimes({ before, meanwhile, standstill }: Episode): boolean {
  const all = [...before, ...meanwhile.map(({ change }) => change), ...(standstill?.changes ?? [])];
  return all.some(({ what }) => wrongTimes.includes(what));
}

const wrongTimes: Change['what'][] = [
  ...([
    'service clock',
    'database clock',
    'old lists',
    'turn back',
    'edit in the future',
    'create in the future',
  ] as const),
];

const episodes: fc.Arbitrary<Episode[]> = fc
  .array(
    fc.oneof(
      { arbitrary: anything.map((episode) => [episode]), weight: 1 },
      { arbitrary: knownBugScenarios, weight: 2 },
      { arbitrary: fc.oneof(...Object.values(scenarios)), weight: 2 },
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((parts) => parts.flat());

function scenarioNamed(name: string): fc.Arbitrary<Episode[]> {
  const scenario = scenarios[name];
  if (scenario === undefined)
    throw new Error(`There is no scenario ${name}: ${Object.keys(scenarios).join(', ')}.`);
  return scenario;
}
