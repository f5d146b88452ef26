import type { WorkflowHandle } from '@temporalio/client';
import { buildQuestion, type DeletionQuestion } from '../../warehouse/reconcile/deletion-question.ts';
import { readWaitingDeletions } from '../../warehouse/reconcile/read-waiting-deletions.ts';
import type { RunRead } from '../../warehouse/runs/read-run.ts';
import type { reconcileConnection } from '../../workflows/index.ts';
import type { ReconcileConnectionInput } from '../../workflows/reconcile-connection.ts';
import type { Installation } from './installation.ts';
import { rows } from './rows.ts';
import { readRunByTemporalId } from './sync.ts';

export type ReconcileHandle = WorkflowHandle<typeof reconcileConnection>;

/** Starts the reconcile of a connection, or joins the one that runs. */
export async function startReconcile(
  { client }: Pick<Installation, 'client'>,
  connection: string,
  input: Omit<ReconcileConnectionInput, 'connection'> = {},
): Promise<ReconcileHandle & { firstExecutionRunId: string }> {
  return client.workflow.start<typeof reconcileConnection>('reconcileConnection', {
    workflowId: `reconcile/${connection}`,
    taskQueue: 'daybook',
    // A sync that found a reconcile wanted may just have started it.
    workflowIdConflictPolicy: 'USE_EXISTING',
    args: [{ connection, reason: 'test', ...input }],
  });
}

/** Reconciles a connection to the end; returns the run as the warehouse has it, and the workflow's failure if it failed. */
export async function reconcile(
  installation: Pick<Installation, 'client' | 'warehouse'>,
  connection: string,
  input: Omit<ReconcileConnectionInput, 'connection'> = {},
): Promise<ReconcileEnd> {
  const handle = await startReconcile(installation, connection, input);
  return awaitReconcile(installation, handle, handle.firstExecutionRunId);
}

/** The deletions that wait for approval now, as a person is shown them. */
export async function shownDeletions(
  { warehouse }: Pick<Installation, 'warehouse'>,
  connection: string,
): Promise<DeletionQuestion> {
  return buildQuestion(await readWaitingDeletions(warehouse, { connectionId: connection }));
}

/** Reconciles a connection, and approves the deletions that waited before. */
export async function approve(
  installation: Pick<Installation, 'client' | 'warehouse'>,
  connection: string,
): Promise<ReconcileEnd> {
  return reconcile(installation, connection, { approved: await shownDeletions(installation, connection) });
}

export interface ReconcileEnd {
  readonly run: RunRead;
  readonly handle: ReconcileHandle;
  /** Undefined when the workflow completed. */
  readonly failure: unknown;
}

export async function awaitReconcile(
  { warehouse }: Pick<Installation, 'warehouse'>,
  handle: ReconcileHandle,
  temporalRunId: string,
): Promise<ReconcileEnd> {
  const failure: unknown = await handle.result().then(
    () => undefined,
    (error: unknown) => error,
  );
  return { run: await readRunByTemporalId({ warehouse }, temporalRunId), handle, failure };
}

export interface Discrepancy {
  readonly resource: string;
  readonly record_id: string;
  readonly kind: string;
  readonly status: string;
}

/** The discrepancies that reconciles of a connection found, by resource and id. */
export async function readFoundDiscrepancies(
  { warehouse }: Pick<Installation, 'warehouse'>,
  connection: string,
): Promise<Discrepancy[]> {
  const found = await rows(
    warehouse,
    `select resource, record_id, kind, status from sync.discrepancies
     where connection_id = $1 order by resource, record_id, id`,
    [connection],
  );
  return found as unknown as Discrepancy[];
}

export interface Proof {
  readonly source: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly warehouse: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly equal: boolean;
}

/** The totals that a run has written, by stream; null for a stream that it did not prove. */
export async function readProofs(
  { warehouse }: Pick<Installation, 'warehouse'>,
  { run_id }: Pick<RunRead, 'run_id'>,
): Promise<Record<string, Proof | null>> {
  const totals = await rows(warehouse, 'select stream, totals from sync.run_streams where run_id = $1', [
    run_id,
  ]);
  return Object.fromEntries(
    totals.map(({ stream, totals: proof }) => [String(stream), proof as Proof | null]),
  );
}
