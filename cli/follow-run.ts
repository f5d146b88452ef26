import { WorkflowContinuedAsNewError, WorkflowFailedError, type Client } from '@temporalio/client';
import { setTimeout as wait } from 'node:timers/promises';
import type { Warehouse } from '../warehouse/open-warehouse.ts';
import { readRuns, type RunRead } from '../warehouse/runs/read-run.ts';
import { isDatabaseAway } from '../warehouse/session/is-database-away.ts';
import { endedBeforeRun } from './ended-before-run.ts';
import { exitCodes, type ExitCode } from './exit-codes.ts';
import { noWorkerAfterMilliseconds, noWorkerYet } from './no-worker-yet.ts';
import { print, printAside } from './printer.ts';
import { readRetries } from '../operations/read-retries.ts';
import { runTable } from './run-table.ts';
import { isShownInPlace, lineEveryMilliseconds, showUntil } from './show-progress.ts';
import { runNames } from '../operations/run-names.ts';
import type { StartedRun } from '../operations/start-run.ts';

export interface Followed {
  readonly exitCode: ExitCode;
  /** Undefined: the workflow ended before the run began. */
  readonly run: RunRead | undefined;
}

/** Shows the progress of a run and reports its end. Ctrl-C leaves the run running. */
export async function followRun(
  { client, warehouse }: { client: Client; warehouse: Warehouse },
  { workflowId, temporalRunId, joined, link, quiet }: StartedRun & { quiet: boolean },
): Promise<Followed> {
  if (!quiet) printAside(`${joined ? 'Joined the run at' : 'Running:'} ${link}`);
  const execution = { workflowId, temporalRunId };
  const read = (): Promise<RunRead | undefined> => readFollowedRun(warehouse, execution.temporalRunId);
  const retries = (): Promise<string[]> =>
    readRetries(client.workflow.getHandle(workflowId, execution.temporalRunId));
  const ended = waitForEnd(client, execution, read);
  const { hasSuccessor } = await (quiet
    ? ended
    : showUntil(ended, readerWithNotices({ read, retries }), inWords));
  const [run] = await readRuns(warehouse, { temporalRunId: execution.temporalRunId, totals: true, limit: 1 });
  if (!quiet) {
    print(run === undefined ? endedBeforeRun : lastWords(run));
    if (hasSuccessor) printAside('More data was announced meanwhile: another run has started to read it.');
  }
  return { exitCode: exitCodeForRun(run), run };
}

/**
 * Waits for the end of the run across continued executions, and updates `execution`. If the workflow continues after the run is over, that is
 * another run.
 */
async function waitForEnd(
  client: Client,
  execution: { workflowId: string; temporalRunId: string },
  read: () => Promise<RunRead | undefined>,
): Promise<{ hasSuccessor: boolean }> {
  for (;;) {
    const { workflowId, temporalRunId } = execution;
    try {
      await client.workflow.getHandle(workflowId, temporalRunId, { followRuns: false }).result();
      return { hasSuccessor: false };
    } catch (error) {
      // The row of the run says how it failed; any other error is a failure to follow it.
      if (error instanceof WorkflowFailedError) return { hasSuccessor: false };
      if (!(error instanceof WorkflowContinuedAsNewError)) throw error;
      if (await isOver(read)) return { hasSuccessor: true };
      execution.temporalRunId = error.newExecutionRunId;
    }
  }
}

async function isOver(read: () => Promise<RunRead | undefined>): Promise<boolean> {
  for (;;) {
    try {
      const run = await read();
      return run !== undefined && run.finished_at !== null;
    } catch (error) {
      if (!isDatabaseAway(error)) throw error;
      await wait(intervalMilliseconds);
    }
  }
}

const intervalMilliseconds = 250;

/** Returns a function that reads the progress of the run. It prints notices of what delays the run, each once while it lasts. */
function readerWithNotices({
  read,
  retries,
}: {
  read: () => Promise<RunRead | undefined>;
  retries: () => Promise<string[]>;
}): () => Promise<Progress> {
  const started = performance.now();
  let asked = started;
  let latest: string[] = [];
  let printed: readonly string[] = [];
  return async () => {
    // The run survives a database that is away for a while, so following it does too.
    const found = await read().catch((error: unknown) => {
      if (!isDatabaseAway(error)) throw error;
      return 'database away' as const;
    });
    const now = performance.now();
    if (now - asked > lineEveryMilliseconds) {
      asked = now;
      latest = await retries();
    }
    const notices = [
      ...(found === 'database away' ? ['The database does not answer; waiting for it …'] : []),
      ...(found === undefined && now - started > noWorkerAfterMilliseconds ? [noWorkerYet('run')] : []),
      ...(isShownInPlace() ? [] : latest),
    ];
    for (const notice of notices) if (!printed.includes(notice)) printAside(notice);
    printed = notices;
    return { run: found === 'database away' ? undefined : found, retries: latest };
  };
}

interface Progress {
  readonly run: RunRead | undefined;
  readonly retries: readonly string[];
}

function inWords({ run, retries }: Progress, waitedMilliseconds: number): string | undefined {
  if (run === undefined) return undefined;
  if (isShownInPlace()) return [runTable(run, new Date()), ...retries].join('\n');
  return waitedMilliseconds > lineEveryMilliseconds ? progressLine(run) : undefined;
}

function progressLine(run: RunRead): string {
  const read = run.streams.reduce((sum, stream) => sum + stream.read, 0);
  const seconds = (Date.now() - run.started_at.getTime()) / 1000;
  const rate = Math.round(read / Math.max(seconds, 0.001));
  const open = run.streams.filter(({ status }) => status === 'running').map(({ stream }) => stream);
  return `${read.toLocaleString('en-US')} records, ${rate.toLocaleString('en-US')}/s; reading ${open.join(', ') || '…'}`;
}

function lastWords(run: RunRead): string {
  const quarantined = run.streams.reduce((sum, stream) => sum + stream.quarantined, 0);
  const seconds = ((run.finished_at ?? new Date()).getTime() - run.started_at.getTime()) / 1000;
  return [
    runTable(run, run.finished_at ?? new Date()),
    '',
    `${runNames[run.kind]} of ${run.connection_id ?? ''} ${run.status} after ${seconds.toFixed(1)} s.`,
    ...(run.failure === null ? [] : [`${run.connection_id ?? ''}: ${run.failure}`]),
    ...(quarantined > 0
      ? [
          `${quarantined === 1 ? '1 record is' : `${quarantined} records are`} in quarantine: see "daybook quarantine list".`,
        ]
      : []),
  ].join('\n');
}

function exitCodeForRun(run: RunRead | undefined): ExitCode {
  if (run?.status === 'succeeded') return exitCodes.done;
  return run?.status === 'partial' ? exitCodes.partly : exitCodes.failed;
}

async function readFollowedRun(warehouse: Warehouse, temporalRunId: string): Promise<RunRead | undefined> {
  const [run] = await readRuns(warehouse, { temporalRunId, limit: 1 });
  return run;
}
