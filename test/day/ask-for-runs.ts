import type { Client } from '@temporalio/client';
import type { BackfillWindow } from './plan-actions.ts';

/** Each function runs its workflow to the end, or joins the running one. Rejects with WorkflowFailedError if the workflow failed. */
export function askForSync(client: Client, connection: string): Promise<AskedRun> {
  return ask(client, 'syncConnection', { id: `sync/${connection}`, input: { connection } });
}

export function askForReconcile(client: Client, connection: string): Promise<AskedRun> {
  return ask(client, 'reconcileConnection', { id: `reconcile/${connection}`, input: { connection } });
}

export function askForBackfill(
  client: Client,
  { connection, from, to }: BackfillWindow & { connection: string },
): Promise<AskedRun> {
  const id = `backfill/${connection}/${from}_${to}`;
  return ask(client, 'backfillConnection', { id, input: { connection, from, to } });
}

interface AskedRun {
  readonly runId: string;
  readonly status: string;
}

function ask(
  client: Client,
  workflow: string,
  { id, input }: { id: string; input: Readonly<Record<string, string>> },
): Promise<AskedRun> {
  return client.workflow.execute<(input: Readonly<Record<string, string>>) => Promise<AskedRun>>(workflow, {
    workflowId: id,
    taskQueue: 'daybook',
    args: [{ ...input, reason: 'test' }],
    workflowIdConflictPolicy: 'USE_EXISTING',
  });
}
