import { WorkflowExecutionAlreadyStartedError, type Client } from '@temporalio/client';
import { readAccess } from '../warehouse/connections/read-access.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { checkSecretKey } from '../warehouse/secrets/check-secret-key.ts';
import type { Settings } from '../worker/settings.ts';
import { mainQueue } from '../worker/task-queues.ts';
import type { syncConnection } from '../workflows/index.ts';

export interface StartedSync {
  workflowId: string;
  temporalRunId: string;
  /** A sync of the connection ran already; this is that one. */
  joined: boolean;
  /** The run in the Web UI, where its address is known. */
  link: string;
}

/** Starts the sync of a connection, or finds the one that runs: Temporal lets one run at a time. */
export async function startSync(
  { client, warehouse, settings }: { client: Client; warehouse: Warehouse; settings: Settings },
  input: { connection: string; resources: readonly string[] },
): Promise<StartedSync> {
  const { connection, resources } = input;
  await checkSecretKey(warehouse, settings.secretKey);
  // What cannot work is said here, in this terminal, and not only in a failed run.
  await readAccess(warehouse, settings.secretKey, {
    connectionId: connection,
    apiAddress: settings.api.address,
  });
  const workflowId = `sync/${connection}`;
  try {
    const handle = await client.workflow.start<typeof syncConnection>('syncConnection', {
      workflowId,
      taskQueue: mainQueue,
      args: [
        {
          connection,
          ...(resources.length > 0 ? { resources: [...resources] } : {}),
          reason: 'daybook sync',
        },
      ],
      staticSummary: `Sync of ${connection}`,
      // People go before schedules, and connections take turns.
      priority: { priorityKey: 2, fairnessKey: connection },
    });
    return found(settings, { workflowId, temporalRunId: handle.firstExecutionRunId, joined: false });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const { runId } = await client.workflow.getHandle(workflowId).describe();
    return found(settings, { workflowId, temporalRunId: runId, joined: true });
  }
}

function found({ temporal }: Settings, started: Omit<StartedSync, 'link'>): StartedSync {
  const { workflowId, temporalRunId } = started;
  const path = `namespaces/${temporal.namespace}/workflows/${encodeURIComponent(workflowId)}/${temporalRunId}`;
  return { ...started, link: temporal.ui === undefined ? workflowId : `${temporal.ui}/${path}` };
}
