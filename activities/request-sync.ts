import type { Client } from '@temporalio/client';
import { signals } from '../temporal/messages.ts';
import { startOrJoin } from '../temporal/start-or-join.ts';
import { startRequest, type StartRequest } from '../temporal/start-request.ts';

/** Starts a sync of the connection, or joins the running one. */
export async function requestSync(temporal: Client, connection: string): Promise<void> {
  await startOrJoin(temporal, syncRequest(connection));
}

/** Wakes the sync that waits until the service has prepared the data, or starts one. */
export async function tellDataReady(temporal: Client, connection: string): Promise<void> {
  const { workflowType, options } = syncRequest(connection);
  await temporal.workflow.signalWithStart(workflowType, {
    ...options,
    signal: signals.dataReady,
    signalArgs: [],
  });
}

function syncRequest(connection: string): StartRequest {
  return startRequest('sync', { connection, reason: 'webhook' }, 'schedules');
}
