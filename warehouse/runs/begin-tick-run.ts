import type { RunStatus } from '../tables/runs.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { AnotherRuns, beginRun, type RunToBegin } from './begin-run.ts';

/** The state of the sync that the tick of a schedule is about to run itself. */
export type TickRun =
  | { readonly state: 'open' }
  /** Another sync of the connection is open, or has begun since and the tick gave way to it. */
  | { readonly state: 'busy' }
  /** A workflow continues the run, or has ended it. */
  | { readonly state: 'adopted'; readonly workflowId: string; readonly temporalRunId: string }
  /** An earlier attempt has ended the run. */
  | { readonly state: 'ended'; readonly status: 'succeeded' | 'partial' | 'failed' | 'cancelled' };

/**
 * Opens the run of a tick, unless another sync of the connection is open, which would otherwise be marked as ended. If the run was begun before,
 * returns its state. Throws UnknownConnection.
 */
export async function beginTickRun(warehouse: Warehouse, run: RunToBegin): Promise<TickRun> {
  const known = await readTickRun(warehouse, run);
  if (known !== undefined && known.state !== 'open') return known;
  try {
    await beginRun(warehouse, { ...run, alone: known === undefined });
    return { state: 'open' };
  } catch (error) {
    if (error instanceof AnotherRuns) return { state: 'busy' };
    throw error;
  }
}

/** Reads the state of a tick's run; undefined if it has not begun. */
export async function readTickRun(
  { db }: Pick<Warehouse, 'db'>,
  { runId, workflowId }: Pick<RunToBegin, 'runId' | 'workflowId'>,
): Promise<TickRun | undefined> {
  const run = await db
    .selectFrom('sync.runs')
    .select(['workflow_id', 'temporal_run_id', 'status'])
    .where('run_id', '=', runId)
    .executeTakeFirst();
  if (run === undefined) return undefined;
  if (run.workflow_id !== workflowId)
    return { state: 'adopted', workflowId: run.workflow_id, temporalRunId: run.temporal_run_id };
  return asTickRun(run.status);
}

function asTickRun(status: RunStatus): TickRun {
  if (status === 'running') return { state: 'open' };
  return status === 'interrupted' || status === 'unsupported'
    ? { state: 'busy' }
    : { state: 'ended', status };
}
