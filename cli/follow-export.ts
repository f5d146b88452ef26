import { WorkflowFailedError, type Client } from '@temporalio/client';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { readRuns, type RunRead } from '../warehouse/runs/read-run.ts';
import {
  readActivity,
  type ActivityUnderWay,
  type Exported,
  type ExportProgress,
} from '../operations/read-heartbeat.ts';
import type { StartedRun } from '../operations/start-run.ts';
import { endedBeforeRun } from './ended-before-run.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';
import { noWorkerAfterMilliseconds, noWorkerYet } from './no-worker-yet.ts';
import { print, printAside } from './printer.ts';
import { showUntil } from './show-progress.ts';

/** Shows the progress of an export and reports its end. Ctrl-C leaves the export running. */
export async function followExport(
  { client, warehouse }: { client: Client; warehouse: Warehouse },
  { workflowId, temporalRunId, joined, link }: StartedRun,
  { quiet }: { quiet: boolean },
): Promise<ExportFollowed> {
  if (!quiet) printAside(`${joined ? 'Joined the run at' : 'Running:'} ${link}`);
  const ended = readExportResult(client, { workflowId, temporalRunId });
  const read = (): Promise<ExportUnderWay | undefined> => readActivity(client, { workflowId, temporalRunId });
  const exported = await (quiet ? ended : showUntil(ended, read, inWords));
  const [run] = await readRuns(warehouse, { temporalRunId, limit: 1 });
  if (!quiet) print(run?.failure ?? run?.outcome ?? endedBeforeRun);
  const isDone = exported !== undefined && run?.status !== 'failed';
  return { exported, run, exitCode: isDone ? exitCodes.done : exitCodes.failed };
}

export interface ExportFollowed {
  /** Undefined: it failed, or was canceled. */
  readonly exported: Exported | undefined;
  readonly run: RunRead | undefined;
  readonly exitCode: ExitCode;
}

async function readExportResult(
  client: Client,
  { workflowId, temporalRunId }: { workflowId: string; temporalRunId: string },
): Promise<Exported | undefined> {
  try {
    return (await client.workflow.getHandle(workflowId, temporalRunId).result()) as Exported;
  } catch (error) {
    // The row of the run says how it failed; any other error is a failure to follow it.
    if (!(error instanceof WorkflowFailedError)) throw error;
    return undefined;
  }
}

type ExportUnderWay = ActivityUnderWay<ExportProgress>;

function inWords(underWay: ExportUnderWay | undefined, waitedMilliseconds: number): string {
  const { progress, isTaken = false, failure } = underWay ?? {};
  if (progress === undefined) {
    if (failure !== undefined) return failure;
    return !isTaken && waitedMilliseconds > noWorkerAfterMilliseconds ? noWorkerYet('export') : '';
  }
  const { step, tables, tablesDone, rows, rowsDone } = progress;
  const many = (count: number): string => count.toLocaleString('en-US');
  if (step === 'counting') return `Counting: ${many(rows)} rows so far`;
  if (step === 'publishing') return `Publishing ${many(rows)} rows in ${tables} tables`;
  return `Writing: ${tablesDone} of ${tables} tables, ${many(rowsDone)} of ${many(rows)} rows`;
}
