import type { WorkflowHandle } from '@temporalio/client';
import { readRuns, type RunRead } from '../../warehouse/runs/read-run.ts';
import type { syncConnection } from '../../workflows/index.ts';
import type { Installation } from './installation.ts';

export type SyncHandle = WorkflowHandle<typeof syncConnection>;

/** Starts the sync of a connection as the Web UI would. */
export async function startSync(
  { client }: Pick<Installation, 'client'>,
  connection: string,
  input: { resources?: string[] } = {},
): Promise<SyncHandle & { firstExecutionRunId: string }> {
  return client.workflow.start<typeof syncConnection>('syncConnection', {
    workflowId: `sync/${connection}`,
    taskQueue: 'daybook',
    args: [{ connection, reason: 'test', ...input }],
  });
}

/** Syncs a connection to the end; returns the run as the warehouse has it, and the workflow's failure if it failed. */
export async function sync(
  installation: Pick<Installation, 'client' | 'warehouse'>,
  connection: string,
  input: { resources?: string[] } = {},
): Promise<SyncEnd> {
  const handle = await startSync(installation, connection, input);
  return awaitSync(installation, handle, handle.firstExecutionRunId);
}

export interface SyncEnd {
  readonly run: RunRead;
  readonly handle: SyncHandle;
  /** Undefined when the workflow completed. */
  readonly failure: unknown;
}

/** Waits for the end of a sync. */
export async function awaitSync(
  { warehouse }: Pick<Installation, 'warehouse'>,
  handle: SyncHandle,
  temporalRunId: string,
): Promise<SyncEnd> {
  const failure: unknown = await handle.result().then(
    () => undefined,
    (error: unknown) => error,
  );
  return { run: await readRunByTemporalId({ warehouse }, temporalRunId), handle, failure };
}

export async function readRunByTemporalId(
  { warehouse }: Pick<Installation, 'warehouse'>,
  temporalRunId: string,
): Promise<RunRead> {
  const [run] = await readRuns(warehouse, { temporalRunId, limit: 1 });
  if (run === undefined) throw new Error(`There is no run of ${temporalRunId}.`);
  return run;
}

/** The status of each stream: `{ bills: 'succeeded', … }`. */
export function statusesOf({ streams }: RunRead): Record<string, string> {
  return Object.fromEntries(streams.map(({ stream, status }) => [stream, status]));
}

/** A count over all streams of a run. */
export function sumOverStreams(
  { streams }: RunRead,
  count: 'pages' | 'requests' | 'read' | 'inserted',
): number {
  return streams.reduce((sum, stream) => sum + stream[count], 0);
}
