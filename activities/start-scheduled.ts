import { readWantedReconciles } from '../warehouse/reconcile/read-wanted-reconciles.ts';
import { startRequest, type StartRequest } from '../temporal/start-request.ts';
import type { Dependencies } from './dependencies.ts';
import type { Tick } from './schedules.ts';

/** What a schedule hands to the workflow it starts. */
export type ScheduledStartInput = ScheduledTick | { kind: 'export' };

interface ScheduledTick extends Tick {
  /** Of a backfill: how far back it reads. Milliseconds. */
  last?: number;
}

export type StartScheduledInput = ScheduledStartInput & At;

interface At {
  /** The time the schedule meant, milliseconds since 1970. */
  at: number;
}

type TickInput = ScheduledTick & At;

/** What was started or ran already under that name, or why nothing was. */
export type ScheduledStarted = { workflowId: string; runId: string } | { skipped: string };

/** Starts the run that is due under its stable name, or leaves the one that runs. */
export async function startScheduled(
  { warehouse, temporal, schedules }: Pick<Dependencies, 'warehouse' | 'temporal' | 'schedules'>,
  input: StartScheduledInput,
): Promise<ScheduledStarted> {
  if (input.kind === 'export') return startExport({ temporal, schedules });
  const { kind, connection } = input;
  const tick = await schedules.admit({ kind, connection });
  if (!tick.admitted) return { skipped: tick.why };
  if (kind === 'sync') {
    // A sync has met a deletion it could make nothing of: the daily reconcile would be late.
    const resources = await readWantedReconciles(warehouse, connection);
    if (resources.length > 0) {
      const wanted = { connection, resources, reason: 'schedule' };
      await start(temporal, startRequest('reconcile', wanted, 'schedules'));
    }
  }
  return start(temporal, requestOf(input));
}

async function startExport({
  temporal,
  schedules,
}: Pick<Dependencies, 'temporal' | 'schedules'>): Promise<ScheduledStarted> {
  const tick = await schedules.admitExport();
  if (!tick.admitted) return { skipped: tick.why };
  return start(temporal, startRequest('export', { reason: 'schedule' }, 'schedules'));
}

async function start(
  temporal: Dependencies['temporal'],
  { workflowType, options }: StartRequest,
): Promise<ScheduledStarted> {
  const handle = await temporal.workflow.start(workflowType, {
    ...options,
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
  return { workflowId: options.workflowId, runId: handle.firstExecutionRunId };
}

function requestOf({ kind, connection, at, last = 0 }: TickInput): StartRequest {
  const input = { connection, reason: 'schedule' };
  if (kind !== 'backfill') return startRequest(kind, input, 'schedules');
  // Whole days, so that a run that is repeated has the same name; the day it is due on is within.
  const [from, to] = [utcDay(at - last), utcDay(at + dayMilliseconds)];
  return startRequest('backfill', { ...input, from, to }, 'schedules');
}

const dayMilliseconds = 86_400_000;

function utcDay(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}
