import type { ResourceName } from '../../sandbox/api/resources.ts';

/**
 * A sequence of events for one company or several at once: first the configuration, then the episodes in order. Plain data, so that it can
 * shrink. Optional fields did not exist when the first kept histories were recorded.
 */
export interface History {
  readonly platform: (typeof platforms)[number];
  readonly resources: readonly ResourceName[];
  /** The most records on a page. */
  readonly pageSize: number;
  /** The number of records that the company begins with. */
  readonly records: number;
  /** The error of the service's clock. */
  readonly skewHours: number;
  readonly lookbackSeconds: number;
  readonly cursor: 'value' | 'row';
  readonly lastCursor: 'null' | 'absent' | 'empty';
  readonly missingRecordStatus: 404 | 410;
  /** Whether the snapshot at its end is read too, after an earlier one that was made after the first episode. */
  readonly snapshot: boolean;
  /** Connections of the installation, 1 to 3. Changes and runs belong to the first one unless they say otherwise. */
  readonly companies?: number;
  /** Whether the service hides its time: no answer has a `Date`. */
  readonly dateless?: boolean;
  /** Whether the list of subscriptions does not name its company. */
  readonly anonymous?: boolean;
  /** Whether lists are asked for `platform_data`, which fetches by ID lack. */
  readonly expands?: boolean;
  /** Whether `finance` is also rebuilt from history at the end. */
  readonly rebuild?: boolean;
  /** Whether a person who sees an activity without its worker resets it, so that its attempts count from 1 again. */
  readonly resets?: boolean;
  readonly episodes: readonly Episode[];
}

/** How long a list of fetchable records may lag in this history, milliseconds: the lookback, but at least ten minutes. */
export function allowedListLag({ lookbackSeconds }: History): number {
  return Math.max(lookbackSeconds, 600) * 1000;
}

export interface Episode {
  readonly before: readonly Change[];
  readonly faults: readonly PlannedFault[];
  /** Runs that run at the same time. */
  readonly runs: readonly RunKind[];
  /** Runs of other companies at the same time. */
  readonly beside?: readonly { readonly company: number; readonly run: RunKind }[];
  readonly meanwhile: readonly { readonly step: number; readonly change: Change }[];
  readonly kills: readonly Kill[];
  readonly standstill: Standstill | null;
  /** The seed for the order in which statements, requests and changes take turns. */
  readonly schedule: number;
}

export type RunKind = (typeof runKinds)[number];

/** A change of the source's records, or of their environment: see `incidents`. */
export interface Change {
  readonly what: (typeof changes)[number] | (typeof incidents)[number];
  /** Chooses the resource and the records among those that exist. */
  readonly which: number;
  /** The number of records to change, all in one millisecond. */
  readonly count: number;
  /** The time that passes first. */
  readonly milliseconds: number;
  readonly webhook: (typeof deliveryKinds)[number];
  /** The index of the company. Default: the first. */
  readonly company?: number;
  /** The new error of a clock, or the new age of lists. Default: 0. */
  readonly minutes?: number;
}

export interface PlannedFault {
  readonly kind: FaultKind;
  /** The number of matching requests let through first. */
  readonly after: number;
  readonly times: number;
  /** `/accounting/bills/` matches fetches of single bills. */
  readonly path:
    '/' | '/accounting' | '/accounting/bills' | '/accounting/bills/' | '/events' | '/subscriptions';
}

export type FaultKind = (typeof faultKinds)[number];

export interface Kill {
  readonly step: number;
  /**
   * `give up`: Temporal takes the process for dead, but it runs for some more steps. `lose`: the process lives, and a standby takes over
   * without its next commit, which Postgres had confirmed to it.
   */
  readonly how: 'before' | 'after' | 'give up' | 'lose';
  readonly stepsLeft: number;
}

/** The first run stands still, either after an answer that it has not used yet or within a named step. The other runs begin only then. */
export interface Standstill {
  /** The activity whose attempts stand still at any step. Default: any activity, after an answer. */
  readonly activity?: string;
  /** The number of answers it has received by then; for a named activity, of statements and answers. */
  readonly answers: number;
  /** The changes at the source at that moment. */
  readonly changes: readonly Change[];
  /** The number of steps of others after which it continues. It continues earlier if no other can take a step. */
  readonly steps: number;
  /** The number of further steps after which its process, which Temporal takes for dead, really dies. Null: the process stays alive. */
  readonly stepsLeft: number | null;
}

export const platforms = ['QUICKBOOKS', 'NETSUITE', 'XERO', 'SAGE_INTACCT', 'STRIPE'] as const;
export const runKinds = [
  'sync',
  'reconcile',
  'backfill',
  'webhooks',
  'approved reconcile',
  'terminated sync',
  // Approves the deletions shown at the last look, however long ago.
  'stale approval',
  // A tick of a schedule: a sync within the tick, or in the workflow that the tick starts.
  'tick',
  // A person removes the connection and adds it again.
  'replacement',
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
  // Writes one of two texts each, so that earlier content comes back.
  ...(['write A', 'write B'] as const),
  // For subscriptions only; other records have no time of their change other than the service's own.
  ...(['recreate as it was', 'edit in the future'] as const),
  // The clock that wrote its version was corrected: other content comes under an older version.
  'turn back',
  ...(['create in the future', 'create with an odd id', 'create without an id', 'write odd texts'] as const),
  // Created in a form that cannot be stored, so it never lands.
  'create spoiled',
] as const;
/** Events in the environment of the records. Those of the installation happen only between runs. */
export const incidents = [
  ...(['service clock', 'database clock', 'worker clock', 'old lists', 'cursors break'] as const),
  ...(['foreign token', 'own token', 'add again', 'add again with a foreign token'] as const),
  ...(['look at the question', 'discard', 'rebuild', 'lose rows'] as const),
] as const;
/** How the webhook of a change is delivered: after how many episodes, and how often. */
export const deliveryKinds = ['lost', 'at once', 'twice', 'next episode', 'two episodes later'] as const;
export const faultKinds = [
  ...(['500', '503', '550', '429', '429 at once', '404', '401', 'html', 'empty', 'truncated'] as const),
  ...(['429 for minutes', '429 until a date'] as const),
  ...(['cut', 'reset', 'not ready', 'repeated cursor', 'short page', 'empty page'] as const),
  // The access token now opens another company.
  'another company',
] as const;

/** Whether no answer ever names the companies: their platform has only subscriptions, and that list does not name its company. */
export function neverNamesCompany({ platform, anonymous = false }: History): boolean {
  return platform === 'STRIPE' && anonymous;
}

/** Whether the event changes the environment of the records, not the records. */
export function isIncident(what: Change['what']): what is (typeof incidents)[number] {
  return (incidents as readonly string[]).includes(what);
}
