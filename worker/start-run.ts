import { WorkflowExecutionAlreadyStartedError, type Client } from '@temporalio/client';
import { readAccess } from '../warehouse/connections/read-access.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { checkSecretKey } from '../warehouse/secrets/check-secret-key.ts';
import type { Settings } from './settings.ts';
import { priorities } from './priorities.ts';
import { mainQueue } from './task-queues.ts';
import { workflowLink } from './workflow-link.ts';
import type { backfillConnection, reconcileConnection, syncConnection } from '../workflows/index.ts';

/** What is to run, with the input its workflow takes. */
export type RunRequest =
  | { workflow: 'syncConnection'; workflowId: string; input: Parameters<typeof syncConnection>[0] }
  | { workflow: 'reconcileConnection'; workflowId: string; input: Parameters<typeof reconcileConnection>[0] }
  | { workflow: 'backfillConnection'; workflowId: string; input: Parameters<typeof backfillConnection>[0] };

export interface StartedRun {
  workflowId: string;
  temporalRunId: string;
  /** One ran already under this id; this is that one. */
  joined: boolean;
  /** The run in the Web UI, where its address is known. */
  link: string;
}

/** What runs already does not know of the approval, and may find something else. */
export class ApprovalNotGiven extends Error {
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
  { client, warehouse, settings }: { client: Client; warehouse: Warehouse; settings: Settings },
  { workflow, workflowId, input }: RunRequest,
): Promise<StartedRun> {
  const { connection } = input;
  await checkSecretKey(warehouse, await settings.secretKey());
  // What cannot work is said to who asked, and not only in a failed run.
  await readAccess(warehouse, settings.secretKey, {
    connectionId: connection,
    apiAddress: settings.api.address,
  });
  try {
    const handle = await client.workflow.start(workflow, {
      workflowId,
      taskQueue: mainQueue,
      args: [input],
      staticSummary: `${summaries[workflow]} of ${connection}`,
      priority: {
        priorityKey: workflow === 'backfillConnection' ? priorities.backfills : priorities.people,
        // Connections take turns.
        fairnessKey: connection,
      },
    });
    return found(settings, { workflowId, temporalRunId: handle.firstExecutionRunId, joined: false });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    if ('approved' in input) throw new ApprovalNotGiven(connection);
    const { runId } = await client.workflow.getHandle(workflowId).describe();
    return found(settings, { workflowId, temporalRunId: runId, joined: true });
  }
}

const summaries: Record<RunRequest['workflow'], string> = {
  syncConnection: 'Sync',
  reconcileConnection: 'Reconcile',
  backfillConnection: 'Backfill',
};

function found({ temporal }: Settings, started: Omit<StartedRun, 'link'>): StartedRun {
  const { workflowId, temporalRunId } = started;
  return { ...started, link: workflowLink(temporal, { workflowId, temporalRunId }) ?? workflowId };
}
