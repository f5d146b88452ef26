import type { RunStatus } from '../tables/runs.ts';
import type { Warehouse } from '../open-warehouse.ts';
import { AnotherRuns, beginRun, type RunToBegin } from './begin-run.ts';

/** What becomes of the sync that the tick of a schedule is about to run itself. */
export type TickRun =
  | { readonly state: 'open' }
  /** Another sync of the connection is open, or has begun since and this one gave way to it. */
  | { readonly state: 'busy' }
  /** A workflow goes on with it, or has ended it. */
  | { readonly state: 'adopted'; readonly workflowId: string; readonly temporalRunId: string }
  /** An attempt before this one has come to its end. */
  | { readonly state: 'ended'; readonly status: 'succeeded' | 'partial' | 'failed' | 'cancelled' };

/**
 * Opens the run of a tick, unless another sync of the connection is open: that one would be taken for ended otherwise. When it
 * was begun before, says what has become of it. Throws UnknownConnection.
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

/** Undefined when it has not begun. */
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
  return stateOf(run.status);
}

function stateOf(status: RunStatus): TickRun {
  if (status === 'running') return { state: 'open' };
  return status === 'interrupted' || status === 'unsupported'
    ? { state: 'busy' }
    : { state: 'ended', status };
}
