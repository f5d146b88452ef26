import { activityInfo } from '@temporalio/activity';
import { readWantedReconciles } from '../warehouse/reconcile/read-wanted-reconciles.ts';
import type { Dependencies } from './dependencies.ts';
import { priorities } from './priorities.ts';
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
      const run = runs.reconcile(input);
      await start(temporal, { ...input, kind: 'reconcile' }, { ...run, more: { resources } });
    }
  }
  return start(temporal, input, runs[kind](input));
}

async function startExport({
  temporal,
  schedules,
}: Pick<Dependencies, 'temporal' | 'schedules'>): Promise<ScheduledStarted> {
  const tick = await schedules.admitExport();
  if (!tick.admitted) return { skipped: tick.why };
  const handle = await temporal.workflow.start('exportSnapshot', {
    workflowId: 'export',
    workflowIdConflictPolicy: 'USE_EXISTING',
    taskQueue: activityInfo().taskQueue,
    args: [{ reason: 'schedule' }],
    staticSummary: 'Export of a snapshot',
    priority: { priorityKey: priorities.schedules },
  });
  return { workflowId: 'export', runId: handle.firstExecutionRunId };
}

async function start(
  temporal: Dependencies['temporal'],
  { kind, connection }: TickInput,
  { workflow, workflowId, more, summary }: Run,
): Promise<ScheduledStarted> {
  const handle = await temporal.workflow.start(workflow, {
    workflowId,
    workflowIdConflictPolicy: 'USE_EXISTING',
    // That of the workflows, where this activity runs too.
    taskQueue: activityInfo().taskQueue,
    args: [{ connection, ...more, reason: 'schedule' }],
    staticSummary: summary,
    priority: {
      priorityKey: kind === 'backfill' ? priorities.backfills : priorities.schedules,
      // Connections take turns.
      fairnessKey: connection,
    },
  });
  return { workflowId, runId: handle.firstExecutionRunId };
}

interface Run {
  workflow: string;
  workflowId: string;
  summary: string;
  more?: { from: string; to: string } | { resources: string[] };
}

const runs: Record<Tick['kind'], (input: TickInput) => Run> = {
  sync: ({ connection }) => ({
    workflow: 'syncConnection',
    workflowId: `sync/${connection}`,
    summary: `Sync of ${connection}`,
  }),
  reconcile: ({ connection }) => ({
    workflow: 'reconcileConnection',
    workflowId: `reconcile/${connection}`,
    summary: `Reconcile of ${connection}`,
  }),
  backfill({ connection, at, last = 0 }) {
    // Whole days, so that a run that is repeated has the same name; the day it is due on is within.
    const [from, to] = [dayOf(at - last), dayOf(at + day)];
    return {
      workflow: 'backfillConnection',
      workflowId: `backfill/${connection}/${from}_${to}`,
      summary: `Backfill of ${connection}`,
      more: { from, to },
    };
  },
};

const day = 86_400_000;

/** In UTC. */
function dayOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10);
}
