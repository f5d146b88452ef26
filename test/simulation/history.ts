import fc from 'fast-check';
import type { ResourceName } from '../../sandbox/world/resources.ts';

/** What happens to one company: first how things are, then episode after episode. Plain data, so that it can shrink. */
export interface History {
  readonly platform: (typeof platforms)[number];
  readonly resources: readonly ResourceName[];
  /** Records of a page, at most. */
  readonly pageSize: number;
  /** Before the records that the company begins with. */
  readonly records: number;
  /** By how much the service's clock is wrong. */
  readonly skewHours: number;
  readonly lookbackSeconds: number;
  readonly cursor: 'value' | 'row';
  readonly lastCursor: 'null' | 'absent' | 'empty';
  readonly missingRecordStatus: 404 | 410;
  readonly episodes: readonly Episode[];
}

export interface Episode {
  readonly before: readonly Change[];
  readonly faults: readonly PlannedFault[];
  /** They run at the same time. */
  readonly runs: readonly RunKind[];
  readonly meanwhile: readonly { readonly step: number; readonly change: Change }[];
  readonly kills: readonly Kill[];
  /** Of the order in which statements, requests and changes take turns. */
  readonly schedule: number;
}

export type RunKind = (typeof runKinds)[number];

/** Something done at the source. */
export interface Change {
  readonly what: (typeof changes)[number];
  /** Chooses the resource and the records among those there are. */
  readonly which: number;
  /** Records it is done to, all in one millisecond. */
  readonly count: number;
  /** Time that passes first. */
  readonly milliseconds: number;
  readonly webhook: (typeof fates)[number];
}

export interface PlannedFault {
  readonly kind: FaultKind;
  /** Matching requests that are let through first. */
  readonly after: number;
  readonly times: number;
  readonly path: '/' | '/accounting' | '/events';
}

export type FaultKind = (typeof faultKinds)[number];

export interface Kill {
  readonly step: number;
  /** `give up`: Temporal takes it for dead, and it goes on for some steps. */
  readonly how: 'before' | 'after' | 'give up';
  readonly stepsLeft: number;
}

export const platforms = ['QUICKBOOKS', 'NETSUITE', 'XERO', 'SAGE_INTACCT'] as const;
export const runKinds = [
  'sync',
  'reconcile',
  'backfill',
  'webhooks',
  'approved reconcile',
  'terminated sync',
] as const;
export const changes = [
  'create',
  'edit',
  'touch',
  'delete',
  'recreate',
  'delete unnoticed',
  'create late',
  'create with old times',
  'edit without a time',
  'edit with an old time',
  'flip the type',
  'correct at the same time',
  'spoil',
] as const;
/** What becomes of the webhook of a change: episodes until it arrives, and how often. */
export const fates = ['lost', 'at once', 'twice', 'next episode', 'two episodes later'] as const;
export const faultKinds = [
  ...(['500', '503', '550', '429', '429 at once', '404', '401', 'html', 'empty', 'truncated'] as const),
  ...(['cut', 'reset', 'not ready', 'repeated cursor', 'short page', 'empty page'] as const),
] as const;

const change: fc.Arbitrary<Change> = fc.record({
  what: fc.oneof(
    { arbitrary: fc.constantFrom('create', 'edit', 'touch', 'delete', 'recreate'), weight: 2 },
    { arbitrary: fc.constantFrom('create late', 'delete unnoticed'), weight: 1 },
    { arbitrary: fc.constantFrom(...changes), weight: 2 },
  ),
  which: fc.nat({ max: 999 }),
  count: fc.oneof(
    { arbitrary: fc.integer({ min: 1, max: 4 }), weight: 20 },
    { arbitrary: fc.constant(70), weight: 1 },
  ),
  milliseconds: fc.constantFrom(0, 0, 0, 1, 20, 3_000, 15_000, 700_000, 7_200_000),
  webhook: fc.constantFrom(...fates),
});

const fault: fc.Arbitrary<PlannedFault> = fc.record({
  kind: fc.constantFrom(...faultKinds),
  after: fc.nat({ max: 6 }),
  times: fc.constantFrom(1, 2, 3, 40),
  path: fc.constantFrom('/', '/accounting', '/events'),
});

const step = fc.oneof(fc.nat({ max: 30 }), fc.nat({ max: 200 }));

const episode: fc.Arbitrary<Episode> = fc.record({
  before: fc.array(change, { maxLength: 4 }),
  faults: fc.oneof(
    { arbitrary: fc.constant([]), weight: 2 },
    { arbitrary: fc.array(fault, { maxLength: 2 }), weight: 1 },
  ),
  runs: fc.oneof(
    { arbitrary: fc.constant<RunKind[]>(['sync']), weight: 2 },
    {
      arbitrary: fc.uniqueArray(fc.constantFrom(...runKinds), {
        minLength: 1,
        maxLength: 3,
        selector: kindOfRun,
      }),
      weight: 3,
    },
  ),
  meanwhile: fc.array(fc.record({ step, change }), { maxLength: 4 }),
  kills: fc.oneof(
    { arbitrary: fc.constant([]), weight: 1 },
    {
      arbitrary: fc.array(
        fc.record({
          step,
          how: fc.constantFrom('before', 'after', 'give up'),
          stepsLeft: fc.integer({ min: 1, max: 25 }),
        }),
        { maxLength: 3 },
      ),
      weight: 1,
    },
  ),
  schedule: fc.nat(),
});

/** A record is deleted while one run has it in hand and another learns of the deletion. */
const race: fc.Arbitrary<Episode> = fc.record({
  before: fc.array(change, { minLength: 1, maxLength: 2 }),
  faults: fc.constant([]),
  runs: fc.constantFrom<RunKind[]>(
    ['sync', 'webhooks'],
    ['sync', 'reconcile'],
    ['backfill', 'sync'],
    ['backfill', 'webhooks'],
  ),
  meanwhile: fc.array(
    fc.record({
      step: fc.integer({ min: 8, max: 60 }),
      change: fc.record({
        what: fc.constantFrom('delete', 'delete', 'delete unnoticed', 'edit'),
        which: fc.nat({ max: 999 }),
        count: fc.integer({ min: 1, max: 4 }),
        milliseconds: fc.constantFrom(0, 20),
        webhook: fc.constant('at once'),
      }),
    }),
    { minLength: 1, maxLength: 2 },
  ),
  kills: fc.constant([]),
  schedule: fc.nat(),
});

/** Two of a kind do not run at once: Temporal sees to it. */
function kindOfRun(kind: RunKind): string {
  return kind.split(' ').at(-1) ?? kind;
}

export const histories: fc.Arbitrary<History> = fc.record({
  platform: fc.constantFrom(...platforms),
  resources: fc.uniqueArray(
    fc.oneof(
      { arbitrary: fc.constantFrom<ResourceName[]>('bills', 'expenses'), weight: 3 },
      {
        arbitrary: fc.constantFrom<ResourceName[]>(
          'bill_credit_memos',
          'customers',
          'items',
          'subscriptions',
        ),
        weight: 1,
      },
    ),
    { minLength: 1, maxLength: 2 },
  ),
  pageSize: fc.constantFrom(1, 2, 3, 7, 500),
  records: fc.nat({ max: 8 }),
  skewHours: fc.constantFrom(0, -30, 30),
  lookbackSeconds: fc.constantFrom(0, 0, 10, 600),
  cursor: fc.constantFrom('value', 'value', 'row'),
  lastCursor: fc.constantFrom('null', 'absent', 'empty'),
  missingRecordStatus: fc.constantFrom(404, 410),
  episodes: fc.array(fc.oneof({ arbitrary: episode, weight: 3 }, { arbitrary: race, weight: 1 }), {
    minLength: 1,
    maxLength: 5,
  }),
});
