import type { TypedSearchAttributes } from '@temporalio/common';
import { priorityOf, type AskedBy, type Priority } from './priorities.ts';
import { mainQueue } from './task-queues.ts';
import { workflowIds } from './workflow-ids.ts';

/** The input of each workflow, as its starter gives it. Continue-as-new adds fields that only the workflow itself sets. */
export interface StartInputs {
  sync: ConnectionInput & {
    resources?: string[];
    /** A run that a schedule's tick has begun, to be continued by this one. */
    adopts?: { runId: string };
  };
  reconcile: ConnectionInput & {
    resources?: string[];
    /** The deletions that a person was shown, by resource: the number of records, and the run that found them. */
    approved?: Readonly<Record<string, { readonly records: number; readonly run?: string }>>;
  };
  backfill: ConnectionInput & {
    from: string;
    to: string;
    windowMilliseconds?: number;
    resources?: string[];
  };
  webhooks: { connection: string };
  export: { reason: string; force?: boolean; iceberg?: boolean };
  marts: { reason: string; afterExport?: boolean };
}

interface ConnectionInput {
  connection: string;
  /** Who or what asked; shown in the row of the run. */
  reason: string;
}

export type StartKind = keyof StartInputs;

/** Names of the workflow types. Histories and schedules record them, so they must not change. */
export const workflowTypes = {
  sync: 'syncConnection',
  reconcile: 'reconcileConnection',
  backfill: 'backfillConnection',
  webhooks: 'applyWebhooks',
  export: 'exportSnapshot',
  marts: 'buildMarts',
} as const satisfies Record<StartKind, string>;

/** The types that only schedules start; their names are recorded too. */
export const scheduledWorkflowTypes = {
  tick: 'scheduledStart',
  owner: 'namespaceOwner',
  prune: 'pruneWarehouse',
} as const;

export interface StartRequest<Kind extends StartKind = StartKind> {
  readonly kind: Kind;
  readonly input: StartInputs[Kind];
  readonly workflowType: (typeof workflowTypes)[StartKind];
  /** The options of `client.workflow.start`. */
  readonly options: {
    readonly workflowId: string;
    readonly taskQueue: string;
    readonly args: unknown[];
    readonly staticSummary: string;
    readonly priority: Priority;
    readonly typedSearchAttributes?: TypedSearchAttributes;
  };
}

/** Builds the request for a run of this kind, the same for every caller. */
export function startRequest<Kind extends StartKind>(
  kind: Kind,
  input: StartInputs[Kind],
  askedBy: AskedBy,
): StartRequest<Kind> {
  const { workflowId, summary } = nameOf[kind](input);
  return {
    kind,
    input,
    workflowType: workflowTypes[kind],
    options: {
      workflowId,
      taskQueue: mainQueue,
      args: [input],
      staticSummary: summary,
      priority: priorityOf({ kind, ...('connection' in input && { connection: input.connection }) }, askedBy),
    },
  };
}

const nameOf: {
  readonly [Kind in StartKind]: (input: StartInputs[Kind]) => { workflowId: string; summary: string };
} = {
  sync: ({ connection }) => ({
    workflowId: workflowIds.sync(connection),
    summary: `Sync of ${connection}`,
  }),
  reconcile: ({ connection }) => ({
    workflowId: workflowIds.reconcile(connection),
    summary: `Reconcile of ${connection}`,
  }),
  backfill: ({ connection, from, to }) => ({
    workflowId: workflowIds.backfill(connection, { from, to }),
    summary: `Backfill of ${connection}`,
  }),
  webhooks: ({ connection }) => ({
    workflowId: workflowIds.webhooks(connection),
    summary: `Webhooks of ${connection}`,
  }),
  export: () => ({ workflowId: workflowIds.export, summary: 'Export of a snapshot' }),
  marts: () => ({ workflowId: workflowIds.marts, summary: 'Build of the marts' }),
};
