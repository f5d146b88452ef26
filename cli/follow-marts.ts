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

/** Waits for the build of the marts that is under way, if there is one, and says what there is then. */
export async function followMarts(
  { client, warehouse }: { client: Client; warehouse: Warehouse },
  { quiet }: { quiet: boolean },
): Promise<MartsFollowed> {
  const ended = client.workflow
    .getHandle(workflowId)
    .result()
    .catch((error: unknown) => {
      // How it failed is in the status.
      if (!(error instanceof WorkflowFailedError || error instanceof WorkflowNotFoundError)) throw error;
    });
  const read = (): Promise<MartsProgress | undefined> => readHeartbeat<MartsProgress>(client, { workflowId });
  await (quiet ? ended : showUntil(ended, read, inWords));
  const marts = await readMartsStatus(warehouse);
  const failed = [marts.postgres, marts.lake].some(({ status }) => status === 'failed');
  return { marts, exitCode: failed ? exitCodes.partly : exitCodes.done };
}

/** Whether a build of the marts is under way: one that an export asked for is, as soon as the export is over. */
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
