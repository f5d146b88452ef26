import { applyWebhooks, type ApplyWebhooksInput, type WebhooksApplied } from './apply-webhooks.ts';
import { beginExport, type BeginExportInput } from './begin-export.ts';
import { beginRun, type BeginRunInput, type BegunRun } from './begin-run.ts';
import type { Dependencies } from './dependencies.ts';
import type { Exported } from './export/export-job.ts';
import { exportSnapshot, type ExportSnapshotInput } from './export-snapshot.ts';
import { buildMarts, type BuildMartsInput, type MartsOutcome } from './build-marts.ts';
import { finishExport, type FinishExportInput } from './finish-export.ts';
import { finishRun, type FinishRunInput } from './finish-run.ts';
import type { ReadStreamInput, StreamRead } from './read-chunk.ts';
import { planBackfill, type PlanBackfillInput, type PlannedBackfill } from './plan-backfill.ts';
import { planReconcile, type PlanReconcileInput, type ReconcilePlan } from './plan-reconcile.ts';
import { prune, type PruneInput } from './prune.ts';
import { readEvents } from './read-events.ts';
import { readStream } from './read-stream.ts';
import { readWindows, type ReadWindowsInput, type WindowsRead } from './read-windows.ts';
import * as reconcile from './reconcile-resource.ts';
import { requestMarts, type RequestMartsInput } from './request-marts.ts';
import { startScheduled, type ScheduledStarted, type StartScheduledInput } from './start-scheduled.ts';
import type { Pruned } from '../warehouse/retention/prune-warehouse.ts';
import type { FinishedRun } from '../warehouse/runs/finish-run.ts';

export interface Activities {
  readonly beginRun: (input: BeginRunInput) => Promise<BegunRun>;
  readonly readStream: (input: ReadStreamInput) => Promise<StreamRead>;
  readonly readEvents: (input: ReadStreamInput) => Promise<StreamRead>;
  readonly planBackfill: (input: PlanBackfillInput) => Promise<PlannedBackfill>;
  readonly readWindows: (input: ReadWindowsInput) => Promise<WindowsRead>;
  readonly planReconcile: (input: PlanReconcileInput) => Promise<ReconcilePlan>;
  readonly findAbsent: (input: reconcile.ReconcileInput) => Promise<reconcile.AbsentFound>;
  readonly confirmByFetch: (input: reconcile.ReconcileInput) => Promise<reconcile.Confirmed>;
  readonly listAgain: (input: reconcile.ReconcileInput) => Promise<void>;
  readonly confirmBySecondListing: (input: reconcile.ReconcileInput) => Promise<void>;
  readonly settleResource: (
    input: reconcile.ReconcileInput & { listings?: number },
  ) => Promise<reconcile.ReconciledResource>;
  readonly deleteApproved: (
    input: Parameters<typeof reconcile.deleteApproved>[1],
  ) => Promise<{ deleted: number }>;
  /** The same, under a name that workers of 0.5.0 do not know: theirs would not look at what was approved. */
  readonly deleteNamed: Activities['deleteApproved'];
  readonly finishRun: (input: FinishRunInput) => Promise<FinishedRun>;
  readonly startScheduled: (input: StartScheduledInput) => Promise<ScheduledStarted>;
  readonly beginExport: (input: BeginExportInput) => Promise<{ searchable: boolean }>;
  readonly exportSnapshot: (input: ExportSnapshotInput) => Promise<Exported>;
  readonly finishExport: (input: FinishExportInput) => Promise<void>;
  readonly requestMarts: (input: RequestMartsInput) => Promise<{ requested: boolean }>;
  readonly buildMarts: (input: BuildMartsInput) => Promise<MartsOutcome>;
  readonly prune: (input: PruneInput) => Promise<Pruned>;
  readonly applyWebhooks: (input: ApplyWebhooksInput) => Promise<WebhooksApplied>;
}

export function createActivities(dependencies: Dependencies): Activities {
  return {
    beginRun: (input) => beginRun(dependencies, input),
    readStream: (input) => readStream(dependencies, input),
    readEvents: (input) => readEvents(dependencies, input),
    planBackfill: (input) => planBackfill(dependencies, input),
    readWindows: (input) => readWindows(dependencies, input),
    planReconcile: (input) => planReconcile(dependencies, input),
    findAbsent: (input) => reconcile.findAbsent(dependencies, input),
    confirmByFetch: (input) => reconcile.confirmByFetch(dependencies, input),
    listAgain: (input) => reconcile.listAgain(dependencies, input),
    confirmBySecondListing: (input) => reconcile.confirmBySecondListing(dependencies, input),
    settleResource: (input) => reconcile.settleResource(dependencies, input),
    deleteApproved: (input) => reconcile.deleteApproved(dependencies, input),
    deleteNamed: (input) => reconcile.deleteApproved(dependencies, input),
    finishRun: (input) => finishRun(dependencies, input),
    startScheduled: (input) => startScheduled(dependencies, input),
    beginExport: (input) => beginExport(dependencies, input),
    exportSnapshot: (input) => exportSnapshot(dependencies, input),
    finishExport: (input) => finishExport(dependencies, input),
    requestMarts: (input) => requestMarts(dependencies, input),
    buildMarts: (input) => buildMarts(dependencies, input),
    prune: (input) => prune(dependencies, input),
    applyWebhooks: (input) => applyWebhooks(dependencies, input),
  };
}
