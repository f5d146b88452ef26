import { WorkflowFailedError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import { readMartsStatus } from '../../warehouse/marts/read-marts-status.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { readHeartbeat, type MartsProgress } from '../../worker/read-heartbeat.ts';
import { martsLines } from '../commands/status/publication-lines.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';
import { print } from '../printer.ts';
import { showProgress } from '../show-progress.ts';

/** Waits for the build of the marts that is under way, if there is one, and says what there is then. */
export async function followMarts({
  client,
  warehouse,
}: {
  client: Client;
  warehouse: Warehouse;
}): Promise<ExitCode> {
  const over = new AbortController();
  const ended = client.workflow
    .getHandle(workflowId)
    .result()
    .catch((error: unknown) => {
      // How it failed is in the status.
      if (!(error instanceof WorkflowFailedError || error instanceof WorkflowNotFoundError)) throw error;
    })
    .finally(() => {
      over.abort();
    });
  await showProgress(() => readHeartbeat<MartsProgress>(client, { workflowId }), inWords, over.signal);
  await ended;
  const marts = await readMartsStatus(warehouse);
  for (const line of martsLines(marts)) print(line);
  const failed = [marts.postgres, marts.lake].some(({ status }) => status === 'failed');
  return failed ? exitCodes.partly : exitCodes.done;
}

const workflowId = 'marts';

function inWords(progress: MartsProgress | undefined): string {
  return [progress?.step, progress?.node].filter(Boolean).join(' ');
}
