import { WorkflowExecutionAlreadyStartedError, type Client } from '@temporalio/client';
import { startRequest, type StartRequest } from '../temporal/start-request.ts';
import { readAccess } from '../warehouse/connections/read-access.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { checkSecretKey } from '../warehouse/secrets/check-secret-key.ts';
import type { Settings } from '../config/settings.ts';
import { workflowLink } from './workflow-link.ts';

/** A run of one connection that a person requests. */
export type RunRequest = StartRequest<'sync'> | StartRequest<'reconcile'> | StartRequest<'backfill'>;

export interface StartedRun {
  workflowId: string;
  temporalRunId: string;
  /** Whether it had already been running under this id. */
  joined: boolean;
  /** The run's page in the Web UI, if its address is known. */
  link: string;
}

/** A running reconcile does not know of the approval, and may find other deletions. */
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
 * Starts a run that a person requests, or joins the running one: Temporal allows one at a time. Throws ApprovalNotGiven if one is running and
 * the request has an approval.
 */
export async function startRun(
  places: { client: Client; warehouse: Warehouse; settings: Settings },
  request: RunRequest,
): Promise<StartedRun> {
  const { warehouse, settings } = places;
  const { connection } = request.input;
  await checkSecretKey(warehouse, await settings.secretKey());
  // Reports problems to the caller, and not only in a failed run.
  await readAccess(warehouse, settings.secretKey, {
    connectionId: connection,
    apiAddress: settings.api.address,
  });
  const started = await startOrFind(places, request);
  if (started.joined && 'approved' in request.input) throw new ApprovalNotGiven(connection);
  return started;
}

/** Starts an export that a person requests, or joins the running one. */
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
