import { WorkflowFailedError, type Client } from '@temporalio/client';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { readRuns } from '../warehouse/runs/read-run.ts';
import { readHeartbeat } from '../worker/read-heartbeat.ts';
import type { Exported, ExportProgress, StartedExport } from '../worker/start-export.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';
import { print, printAside, printJson } from './printer.ts';
import { showProgress } from './show-progress.ts';

/** Shows an export while it goes on, and says how it ended. Ctrl-C leaves it running. */
export async function followExport(
  { client, warehouse }: { client: Client; warehouse: Warehouse },
  { workflowId, temporalRunId, joined, link }: StartedExport,
  { json }: { json: boolean },
): Promise<ExitCode> {
  if (!json) printAside(`${joined ? 'Joined the run at' : 'Running:'} ${link}`);
  const over = new AbortController();
  const ended = resultOf(client, { workflowId, temporalRunId }).finally(() => {
    over.abort();
  });
  const read = (): Promise<ExportProgress | undefined> =>
    readHeartbeat(client, { workflowId, temporalRunId });
  if (!json) await showProgress(read, inWords, over.signal);
  const exported = await ended;
  const [run] = await readRuns(warehouse, { temporalRunId, limit: 1 });
  if (json) printJson({ ...inJson(exported), run: run ?? null });
  else print(run?.failure ?? run?.outcome ?? 'The export ended before it began; see it in Temporal.');
  return exported === undefined ? exitCodes.failed : exitCodes.done;
}

async function resultOf(
  client: Client,
  { workflowId, temporalRunId }: { workflowId: string; temporalRunId: string },
): Promise<Exported | undefined> {
  try {
    return (await client.workflow.getHandle(workflowId, temporalRunId).result()) as Exported;
  } catch (error) {
    // How it failed stands in its row; anything else is a failure of following it.
    if (!(error instanceof WorkflowFailedError)) throw error;
    return undefined;
  }
}

function inWords(progress: ExportProgress | undefined, waitedMilliseconds: number): string {
  if (progress === undefined) return waitedMilliseconds > noWorkerAfterMilliseconds ? noWorker : '';
  const { step, tables, tablesDone, rows, rowsDone } = progress;
  const many = (count: number): string => count.toLocaleString('en-US');
  if (step === 'counting') return `Counting: ${many(rows)} rows so far`;
  if (step === 'publishing') return `Publishing ${many(rows)} rows in ${tables} tables`;
  return `Writing: ${tablesDone} of ${tables} tables, ${many(rowsDone)} of ${many(rows)} rows`;
}

const noWorkerAfterMilliseconds = 10_000;
const noWorker = 'No worker has taken the export yet: is one running? ("daybook up" or "daybook worker")';

function inJson(exported: Exported | undefined): Record<string, unknown> {
  if (exported === undefined) return { snapshot_id: null, skipped: false };
  const { snapshotId, skipped, tables, rows, bytes, unfit, takenAt } = exported;
  return { snapshot_id: snapshotId, skipped, taken_at: takenAt, tables, rows, bytes, unfit };
}
