import { onTimeline } from '../warehouse/transactions/on-timeline.ts';
import { timelineOfRun } from '../warehouse/runs/timeline-of-run.ts';
import { applyWebhooks } from './apply-webhooks.ts';
import { beginExport } from './begin-export.ts';
import { beginRun } from './begin-run.ts';
import { buildMarts } from './build-marts.ts';
import { confirmByFetch } from './confirm-by-fetch.ts';
import { confirmBySecondListing } from './confirm-by-second-listing.ts';
import { deleteApproved } from './delete-approved.ts';
import type { Dependencies } from './dependencies.ts';
import { exportSnapshot } from './export-snapshot.ts';
import { findAbsent } from './find-absent.ts';
import { finishExport } from './finish-export.ts';
import { finishRun } from './finish-run.ts';
import { listAgain } from './list-again.ts';
import { planBackfill } from './plan-backfill.ts';
import { planReconcile } from './plan-reconcile.ts';
import { prune } from './prune.ts';
import { readEvents } from './read-events.ts';
import { readStream } from './read-stream.ts';
import { readWindows } from './read-windows.ts';
import { requestMarts } from './request-marts.ts';
import { forRunOfExecution } from './run-of-activity.ts';
import { settleResource } from './settle-resource.ts';
import { startScheduled } from './start-scheduled.ts';

/** All activities, grouped by the kind of work that has a policy in `workflows/proxies.ts`. Histories hold their names. */
const steps = {
  bookkeeping: {
    beginRun,
    planReconcile,
    planBackfill,
    finishRun,
    beginExport,
    finishExport,
    requestMarts,
  },
  paging: { readStream, readEvents, readWindows },
  comparing: {
    findAbsent,
    confirmByFetch,
    listAgain,
    confirmBySecondListing,
    settleResource,
    deleteApproved,
    /** The same activity under a name that workers of 0.5.0 do not know: they would ignore the approval's contents. */
    deleteNamed: deleteApproved,
  },
  keeping: { prune },
  exporting: { exportSnapshot },
  building: { buildMarts },
  applying: { applyWebhooks },
  starting: { startScheduled },
};

type Kinds = typeof steps;
type Kind = keyof Kinds;

/** The activities of one kind of work, as workflows call them. */
export type ActivitiesOf<K extends Kind> = {
  readonly [Name in keyof Kinds[K]]: Bound<Kinds[K][Name]>;
};

export type Activities = {
  readonly [Name in NameOf<Kind>]: Bound<Extract<Kinds[Kind], Record<Name, unknown>>[Name]>;
};

/** Activities that keep state between the source and the warehouse from one to the next: a failover ends them. */
const endedByFailover: ReadonlySet<Step> = new Set(
  [steps.paging, steps.comparing, steps.applying].flatMap((ofKind) => Object.values<Step>(ofKind)),
);

/** Activities that may have been scheduled before their workflow was reset. */
const reading: ReadonlySet<Step> = new Set(Object.values<Step>(steps.paging));

export function createActivities(dependencies: Dependencies): Activities {
  const bind = (step: Step) => async (input: never) => {
    const own = reading.has(step) ? await forRunOfExecution(dependencies.warehouse, input) : input;
    return step(endedByFailover.has(step) ? await onTimelineOfRun(dependencies, own) : dependencies, own);
  };
  const named = Object.values(steps).flatMap((ofKind) => Object.entries<Step>(ofKind));
  return Object.fromEntries(named.map(([name, step]) => [name, bind(step)])) as unknown as Activities;
}

async function onTimelineOfRun(
  dependencies: Dependencies,
  { runId }: { runId: string },
): Promise<Dependencies> {
  const { warehouse } = dependencies;
  return { ...dependencies, warehouse: onTimeline(warehouse, await timelineOfRun(warehouse, runId)) };
}

type NameOf<K extends Kind> = K extends Kind ? keyof Kinds[K] : never;

type Bound<S> = S extends (dependencies: Dependencies, input: infer Input) => infer Result
  ? (input: Input) => Result
  : never;

type Step = (dependencies: Dependencies, input: never) => Promise<unknown>;
