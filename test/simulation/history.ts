import type { ResourceName } from '../../sandbox/api/resources.ts';

/**
 * What happens to a company, or to several at once: first how things are, then episode after episode. Plain data, so that it can
 * shrink. What is optional was not played by the histories that were kept first.
 */
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
  /** Whether the snapshot of its end is read too, after one that was made behind its first episode. */
  readonly snapshot: boolean;
  /** Connections of one installation, 1 to 3; changes and runs are the first one's unless they say otherwise. */
  readonly companies?: number;
  /** The service does not tell its time: no answer has a `Date`. */
  readonly dateless?: boolean;
  /** The list of subscriptions does not say for whom it answers. */
  readonly anonymous?: boolean;
  /** At the end `finance` is made again out of history too. */
  readonly rebuild?: boolean;
  /** Whoever sees an activity without its worker resets it: its attempts are counted from 1 again. */
  readonly resets?: boolean;
  readonly episodes: readonly Episode[];
}

/** How long a list of what can be fetched may lag in this history, milliseconds: the lookback, ten minutes at least. */
export function listLagOf({ lookbackSeconds }: History): number {
  return Math.max(lookbackSeconds, 600) * 1000;
}

export interface Episode {
  readonly before: readonly Change[];
  readonly faults: readonly PlannedFault[];
  /** They run at the same time. */
  readonly runs: readonly RunKind[];
  /** Runs of other companies, at the same time. */
  readonly beside?: readonly { readonly company: number; readonly run: RunKind }[];
  readonly meanwhile: readonly { readonly step: number; readonly change: Change }[];
  readonly kills: readonly Kill[];
  readonly standstill: Standstill | null;
  /** Of the order in which statements, requests and changes take turns. */
  readonly schedule: number;
}

export type RunKind = (typeof runKinds)[number];

/** Something done at the source, or to what is around it: see `incidents`. */
export interface Change {
  readonly what: (typeof changes)[number] | (typeof incidents)[number];
  /** Chooses the resource and the records among those there are. */
  readonly which: number;
  /** Records it is done to, all in one millisecond. */
  readonly count: number;
  /** Time that passes first. */
  readonly milliseconds: number;
  readonly webhook: (typeof fates)[number];
  /** Of the companies that there are; the first, when absent. */
  readonly company?: number;
  /** By how much a clock is wrong from now on, or how old lists are; 0, when absent. */
  readonly minutes?: number;
}

export interface PlannedFault {
  readonly kind: FaultKind;
  /** Matching requests that are let through first. */
  readonly after: number;
  readonly times: number;
  /** `/accounting/bills/`: fetches of single bills. */
  readonly path:
    '/' | '/accounting' | '/accounting/bills' | '/accounting/bills/' | '/events' | '/subscriptions';
}

export type FaultKind = (typeof faultKinds)[number];

export interface Kill {
  readonly step: number;
  /**
   * `give up`: Temporal takes it for dead, and it goes on for some steps. `lose`: it lives, and a standby takes over that lacks its next
   * commit, of which Postgres has told it.
   */
  readonly how: 'before' | 'after' | 'give up' | 'lose';
  readonly stepsLeft: number;
}

/** The first run stands still with an answer in hand that grows old, or within a step that is named. The others begin only then. */
export interface Standstill {
  /** The activity, whose attempts stand still with whatever they do; with an answer, of any activity, when absent. */
  readonly activity?: string;
  /** Answers that it has got by then; of a named activity: statements and answers. */
  readonly answers: number;
  /** What happens at the source at that moment. */
  readonly changes: readonly Change[];
  /** Steps of others, after which it goes on. It goes on earlier when nobody else can. */
  readonly steps: number;
  /** Temporal takes its process for dead, and it dies after so many more steps; null: neither. */
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
  // Approves what was shown when somebody last looked, however long ago.
  'stale approval',
  // Of a schedule: a sync, within the tick or by the workflow that the tick starts.
  'tick',
  // Somebody removes the connection and adds it again.
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
  // One of two texts each: content that was there before comes back.
  ...(['write A', 'write B'] as const),
  // Of a subscription; other records have nothing that says when they changed but the service's own time.
  ...(['recreate as it was', 'edit in the future'] as const),
  // The clock that wrote its version was corrected: other content under an older version.
  'turn back',
  ...(['create in the future', 'create with an odd id', 'create without an id', 'write odd texts'] as const),
  // In a form that nobody can store: it has never landed.
  'create spoiled',
] as const;
/** What happens around the records. Those of the installation happen between runs only. */
export const incidents = [
  ...(['service clock', 'database clock', 'worker clock', 'old lists', 'cursors break'] as const),
  ...(['foreign token', 'own token', 'add again', 'add again with a foreign token'] as const),
  ...(['look at the question', 'discard', 'rebuild', 'lose rows'] as const),
] as const;
/** What becomes of the webhook of a change: episodes until it arrives, and how often. */
export const fates = ['lost', 'at once', 'twice', 'next episode', 'two episodes later'] as const;
export const faultKinds = [
  ...(['500', '503', '550', '429', '429 at once', '404', '401', 'html', 'empty', 'truncated'] as const),
  ...(['429 for minutes', '429 until a date'] as const),
  ...(['cut', 'reset', 'not ready', 'repeated cursor', 'short page', 'empty page'] as const),
  // The access token has come to open another company.
  'another company',
] as const;

/** Whether no answer ever names the companies: their platform has nothing but subscriptions, whose list says nothing of it. */
export function namesNobody({ platform, anonymous = false }: History): boolean {
  return platform === 'STRIPE' && anonymous;
}

/** Whether it happens around the records, and not to them. */
export function isIncident(what: Change['what']): what is (typeof incidents)[number] {
  return (incidents as readonly string[]).includes(what);
}
