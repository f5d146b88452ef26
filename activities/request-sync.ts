import { activityInfo } from '@temporalio/activity';
import type { Client, WorkflowStartOptions } from '@temporalio/client';
import { priorities } from './priorities.ts';

/** Starts a sync of the connection, or leaves the one that runs. */
export async function requestSync(temporal: Client, connection: string): Promise<void> {
  await temporal.workflow.start('syncConnection', {
    ...syncOf(connection),
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
}

/** Wakes the sync that waits until the service has prepared the data, or starts one: there is more to read. */
export async function tellDataReady(temporal: Client, connection: string): Promise<void> {
  await temporal.workflow.signalWithStart('syncConnection', {
    ...syncOf(connection),
    signal: 'dataReady',
    signalArgs: [],
  });
}

function syncOf(connection: string): WorkflowStartOptions & { args: unknown[] } {
  return {
    workflowId: `sync/${connection}`,
    // That of the workflows, where this activity runs too.
    taskQueue: activityInfo().taskQueue,
    args: [{ connection, reason: 'webhook' }],
    staticSummary: `Sync of ${connection}`,
    priority: { priorityKey: priorities.schedules, fairnessKey: connection },
  };
}
