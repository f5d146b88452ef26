import { WorkflowExecutionAlreadyStartedError, type Client } from '@temporalio/client';
import { startRequest, type StartRequest } from '../temporal/start-request.ts';
import { readAccess } from '../warehouse/connections/read-access.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { checkSecretKey } from '../warehouse/secrets/check-secret-key.ts';
import type { Settings } from '../config/settings.ts';
import { workflowLink } from './workflow-link.ts';

/** What a person asks for, about one connection. */
export type RunRequest = StartRequest<'sync'> | StartRequest<'reconcile'> | StartRequest<'backfill'>;

export interface StartedRun {
  workflowId: string;
  temporalRunId: string;
  /** One ran already under this id; this is that one. */
  joined: boolean;
  /** The run in the Web UI, where its address is known. */
  link: string;
}

/** What runs already does not know of the approval, and may find something else. */
class ApprovalNotGiven extends Error {
  override readonly name = 'ApprovalNotGiven';
  readonly handling = 'stop';

  constructor(connectionId: string) {
    super(
      `A reconcile of ${connectionId} is running, so nothing was approved. When it has ended, look at what waits then, and approve that.`,
    );
  }
}

/**
 * Starts a run that a person asked for, or finds the one that runs: Temporal lets one run at a time. Throws ApprovalNotGiven when
 * one runs and this was to be more than just another.
 */
export async function startRun(
  places: { client: Client; warehouse: Warehouse; settings: Settings },
  request: RunRequest,
): Promise<StartedRun> {
  const { warehouse, settings } = places;
  const { connection } = request.input;
  await checkSecretKey(warehouse, await settings.secretKey());
  // What cannot work is said to who asked, and not only in a failed run.
  await readAccess(warehouse, settings.secretKey, {
    connectionId: connection,
    apiAddress: settings.api.address,
  });
  const started = await startOrFind(places, request);
  if (started.joined && 'approved' in request.input) throw new ApprovalNotGiven(connection);
  return started;
}

/** Starts the export that a person asked for, or finds the one that runs. */
export function startExport(
  places: { client: Client; settings: Settings },
  { reason, force = false, iceberg = false }: { reason: string; force?: boolean; iceberg?: boolean },
): Promise<StartedRun> {
  return startOrFind(
    places,
    startRequest('export', { reason, ...(force && { force }), ...(iceberg && { iceberg }) }, 'people'),
  );
}

async function startOrFind(
  { client, settings: { temporal } }: { client: Client; settings: Settings },
  { workflowType, options }: StartRequest,
): Promise<StartedRun> {
  const { workflowId } = options;
  const found = (temporalRunId: string, joined: boolean): StartedRun => {
    const run = { workflowId, temporalRunId };
    return { ...run, joined, link: workflowLink(temporal, run) ?? workflowId };
  };
  try {
    const { firstExecutionRunId } = await client.workflow.start(workflowType, options);
    return found(firstExecutionRunId, false);
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const { runId } = await client.workflow.getHandle(workflowId).describe();
    return found(runId, true);
  }
}
