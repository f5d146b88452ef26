import type { WorkflowHandleWithFirstExecutionRunId } from '@temporalio/client';
import type { backfillConnection } from '../../workflows/index.ts';
import type { BackfillConnectionInput } from '../../workflows/backfill-connection.ts';
import type { RunRead } from '../../warehouse/runs/read-run.ts';
import type { Installation } from '../support/installation.ts';
import { readRunByTemporalId } from '../support/sync.ts';

export type BackfillHandle = WorkflowHandleWithFirstExecutionRunId<typeof backfillConnection>;

/** Starts a backfill as the Web UI would. */
export function startBackfill(
  { client }: Pick<Installation, 'client'>,
  input: BackfillConnectionInput,
): Promise<BackfillHandle> {
  return client.workflow.start<typeof backfillConnection>('backfillConnection', {
    workflowId: `backfill/${input.connection}/${input.from}_${input.to}`,
    taskQueue: 'daybook',
    args: [{ reason: 'test', ...input }],
  });
}

export interface BackfillEnd {
  readonly run: RunRead;
  /** Undefined when the workflow completed. */
  readonly failure: unknown;
}

/** Runs a backfill to its end. */
export async function backfill(
  installation: Pick<Installation, 'client' | 'warehouse'>,
  input: BackfillConnectionInput,
): Promise<BackfillEnd> {
  return endOf(installation, await startBackfill(installation, input));
}

export async function endOf(
  { warehouse }: Pick<Installation, 'warehouse'>,
  handle: BackfillHandle,
): Promise<BackfillEnd> {
  const failure: unknown = await handle.result().then(
    () => undefined,
    (error: unknown) => error,
  );
  return { run: await readRunByTemporalId({ warehouse }, handle.firstExecutionRunId), failure };
}
