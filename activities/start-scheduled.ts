import { activityInfo } from '@temporalio/activity';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client';
import { resources } from '../resources/index.ts';
import type { Resource } from '../resources/resource.ts';
import { wantReconcile } from '../warehouse/reconcile/want-reconcile.ts';
import { leaveTickRun } from '../warehouse/runs/leave-tick-run.ts';
import { startOrJoin } from '../temporal/start-or-join.ts';
import { readResourcesOfRun } from '../temporal/read-resources-of-run.ts';
import { startRequest, type StartInputs, type StartRequest } from '../temporal/start-request.ts';
import type { Dependencies } from './dependencies.ts';
import type { Tick } from './schedules.ts';
import { checkedConnection } from './checked-run.ts';
import { executionNow } from './execution-now.ts';
import { OtherResources } from './other-resources.ts';
import { startWanted } from './start-wanted.ts';
import { syncWithinTick } from './sync-within-tick.ts';

/** The input that a schedule passes to the workflow it starts. */
export type ScheduledStartInput = ScheduledTick | { kind: 'export' };

interface ScheduledTick extends Tick {
  /** For a backfill: how far back it reads, in milliseconds. */
  last?: number;
  /** For a sync; absent: all six. */
  resources?: string[];
}

export type StartScheduledInput = ScheduledStartInput & At;

interface At {
  /** The scheduled time, in Unix milliseconds. */
  at: number;
}

type TickInput = ScheduledTick & At;

/**
 * The workflow that was started or already ran under that name, and why a sync could not end here; or the sync that ended here without a
 * workflow of its own; or why nothing was started.
 */
export type ScheduledStarted =
  | { workflowId: string; runId: string; why?: string }
  | { quiet: true; runId: string; status: string }
  | { skipped: string };

/** Starts the run that is due under its stable name, or joins the running one. Runs a sync itself if that is quickly done. */
export async function startScheduled(
  dependencies: Dependencies,
  input: StartScheduledInput,
): Promise<ScheduledStarted> {
  const { warehouse, temporal, schedules } = dependencies;
  if (input.kind === 'export') return startExport({ temporal, schedules });
  const { kind } = input;
  const connection = checkedConnection(input.connection);
  const tick = await schedules.admit({ kind, connection, ...waiting(kind) });
  if (!tick.admitted) {
    // An earlier attempt may have been admitted and have begun the run, which is abandoned.
    await leaveTickRun(warehouse, executionNow());
    return { skipped: tick.why };
  }
  if (kind === 'sync') {
    // Otherwise a reconcile that a resource needs would wait for the daily one.
    await startWanted(dependencies, { connection, reason: 'schedule' });
    return sync(dependencies, input);
  }
  return kind === 'reconcile' ? reconcile(dependencies, input) : backfill(dependencies, input);
}

/** Since when the tick has waited for another run. Only a backfill waits (see `backfill`): a begun sync continues even if its connection pauses. */
function waiting(kind: Tick['kind']): { waitsSince?: number } {
  const { attempt, scheduledTimestampMs } = activityInfo();
  return kind === 'backfill' && attempt > 1 ? { waitsSince: scheduledTimestampMs } : {};
}

async function sync(
  dependencies: Dependencies,
  { connection, resources }: TickInput,
): Promise<ScheduledStarted> {
  const { workflowId, runId } = executionNow();
  const due = { connection, reason: 'schedule', ...(resources === undefined ? {} : { resources }) };
  const ran = await syncWithinTick(dependencies, { resources: [], ...due, runId });
  switch (ran.state) {
    case 'ended':
      return { quiet: true, runId, status: ran.status };
    case 'adopted':
      return { workflowId: ran.workflowId, runId: ran.temporalRunId };
    case 'busy':
      await leaveTickRun(dependencies.warehouse, { runId, workflowId });
      return startOrJoin(dependencies.temporal, startRequest('sync', due, 'schedules'));
    case 'unfinished':
      return { ...(await leaveToWorkflow(dependencies, due, { runId, workflowId })), why: ran.why };
  }
}

/** Starts the workflow that continues the run, unless a sync runs already, which then counts as the due one. */
async function leaveToWorkflow(
  { warehouse, temporal }: Pick<Dependencies, 'warehouse' | 'temporal'>,
  due: StartInputs['sync'],
  run: { runId: string; workflowId: string },
): Promise<{ workflowId: string; runId: string }> {
  const adopting = { ...due, adopts: { runId: run.runId } };
  const { workflowType, options } = startRequest('sync', adopting, 'schedules');
  try {
    const { workflowId, firstExecutionRunId } = await temporal.workflow.start(workflowType, options);
    return { workflowId, runId: firstExecutionRunId };
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    await leaveTickRun(warehouse, run);
    return startOrJoin(temporal, startRequest('sync', due, 'schedules'));
  }
}

/** A running reconcile may cover some resources only: the others are then marked as wanted, and the next sync starts their reconcile. */
async function reconcile(
  { warehouse, temporal }: Pick<Dependencies, 'warehouse' | 'temporal'>,
  input: TickInput,
): Promise<ScheduledStarted> {
  const started = await startOrJoin(temporal, scheduledRequest(input));
  for (const resource of await lackedBy(temporal, started))
    await wantReconcile(warehouse.pool, { connectionId: input.connection, resource });
  return started;
}

/** A running backfill of the same days may cover some resources only: the tick then waits until it is over. Throws OtherResources. */
async function backfill(
  { temporal }: Pick<Dependencies, 'temporal'>,
  input: TickInput,
): Promise<ScheduledStarted> {
  const started = await startOrJoin(temporal, scheduledRequest(input));
  const lacked = await lackedBy(temporal, started);
  if (lacked.length > 0) throw new OtherResources(started.workflowId, lacked);
  return started;
}

/** The resources that are missing from the run which already has this workflow ID. */
async function lackedBy(
  temporal: Dependencies['temporal'],
  run: { workflowId: string; runId: string },
): Promise<readonly Resource[]> {
  const read = await readResourcesOfRun(temporal, run);
  return read.length === 0 ? [] : resources.filter(({ name }) => !read.includes(name));
}

async function startExport({
  temporal,
  schedules,
}: Pick<Dependencies, 'temporal' | 'schedules'>): Promise<ScheduledStarted> {
  const tick = await schedules.admitExport();
  if (!tick.admitted) return { skipped: tick.why };
  return startOrJoin(temporal, startRequest('export', { reason: 'schedule' }, 'schedules'));
}

function scheduledRequest({ kind, connection, at, last = 0 }: TickInput): StartRequest {
  const input = { connection, reason: 'schedule' };
  if (kind !== 'backfill') return startRequest(kind, input, 'schedules');
  // Whole days, so that a repeated run has the same name; they include the due day.
  const [from, to] = [utcDay(at - last), utcDay(at + dayMilliseconds)];
  return startRequest('backfill', { ...input, from, to }, 'schedules');
}

const dayMilliseconds = 86_400_000;

function utcDay(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}
