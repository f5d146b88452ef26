import { WorkflowFailedError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import { workflowIds } from '../temporal/workflow-ids.ts';
import { readMartsStatus, type MartsStatus } from '../warehouse/marts/read-marts-status.ts';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { readHeartbeat, type MartsProgress } from '../operations/read-heartbeat.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';
import { showUntil } from './show-progress.ts';

export interface MartsFollowed {
  readonly marts: MartsStatus;
  readonly exitCode: ExitCode;
}

/** Waits for the current build of the marts, if there is one, and returns their status. */
export async function followMarts(
  { client, warehouse }: { client: Client; warehouse: Warehouse },
  { quiet }: { quiet: boolean },
): Promise<MartsFollowed> {
  const ended = client.workflow
    .getHandle(workflowId)
    .result()
    .catch((error: unknown) => {
      // The status says how it failed.
      if (!(error instanceof WorkflowFailedError || error instanceof WorkflowNotFoundError)) throw error;
    });
  const read = (): Promise<MartsProgress | undefined> => readHeartbeat<MartsProgress>(client, { workflowId });
  await (quiet ? ended : showUntil(ended, read, inWords));
  const marts = await readMartsStatus(warehouse);
  const failed = [marts.postgres, marts.lake].some(({ status }) => status === 'failed');
  return { marts, exitCode: failed ? exitCodes.partly : exitCodes.done };
}

/** Whether the marts are being built. A build that an export requested starts as soon as the export ends. */
export async function areMartsBeingBuilt(client: Client): Promise<boolean> {
  try {
    return (await client.workflow.getHandle(workflowId).describe()).status.name === 'RUNNING';
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
    return false;
  }
}

const workflowId = workflowIds.marts;

function inWords(progress: MartsProgress | undefined): string {
  return [progress?.step, progress?.node].filter(Boolean).join(' ');
}
