import { setTimeout as wait } from 'node:timers/promises';
import { WorkflowFailedError, WorkflowNotFoundError, type Client } from '@temporalio/client';
import { createLogUpdate } from 'log-update';
import { readMartsStatus } from '../../warehouse/marts/read-marts-status.ts';
import type { Warehouse } from '../../warehouse/open-warehouse.ts';
import { readHeartbeat } from '../../worker/read-heartbeat.ts';
import { martsLines } from '../commands/status/publication-lines.ts';
import { exitCodes, type ExitCode } from '../exit-codes.ts';
import { print, printAside } from '../printer.ts';

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
  await show(client, over.signal);
  await ended;
  const marts = await readMartsStatus(warehouse);
  for (const line of martsLines(marts)) print(line);
  const failed = [marts.postgres, marts.lake].some(({ status }) => status === 'failed');
  return failed ? exitCodes.partly : exitCodes.done;
}

const workflowId = 'marts';

async function show(client: Client, over: AbortSignal): Promise<void> {
  const terminal = process.stderr.isTTY;
  const draw = createLogUpdate(process.stderr);
  let said = performance.now();
  while (!over.aborted) {
    const progress = await readHeartbeat<{ step: string; node?: string }>(client, { workflowId }).catch(
      (error: unknown) => {
        if (!(error instanceof WorkflowNotFoundError)) throw error;
        return undefined;
      },
    );
    const line = [progress?.step, progress?.node].filter(Boolean).join(' ');
    if (terminal) draw(line);
    else if (line !== '' && performance.now() - said > lineEveryMilliseconds) {
      printAside(line);
      said = performance.now();
    }
    await wait(intervalMilliseconds, undefined, { signal: over }).catch(() => undefined);
  }
  if (terminal) draw.clear();
}

const intervalMilliseconds = 500;
const lineEveryMilliseconds = 5_000;
