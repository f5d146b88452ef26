import { ApplicationFailure } from '@temporalio/common';
import { questionOf } from '../../warehouse/reconcile/deletion-question.ts';
import { readWaitingDeletions } from '../../warehouse/reconcile/read-waiting-deletions.ts';
import { dependenciesOf } from './dependencies-of.ts';
import { Driver, RunEnded, type PlayedWorker } from './driver.ts';
import type { History, RunKind } from './history.ts';
import { judgeRun } from './judge-run.ts';
import type { Played } from './played.ts';
import type { Post } from './post.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import type { Source } from './source.ts';
import type { Stage } from './stage.ts';
import { BrokenPromise } from './watch.ts';

/** A company of the stage, and what has been played with it so far. */
export interface Company {
  readonly stage: Stage;
  readonly history: History;
  readonly connection: string;
  readonly source: Source;
  readonly post: Post;
  readonly played: Played;
  /** Whether a sync was left in the middle of a list. */
  isReading(): Promise<boolean>;
}

/** Plays one run to its end, on the processes that are there. */
export async function playRun(
  company: Company,
  kind: RunKind,
  among: { pass: (milliseconds: number) => Promise<void>; processOf: (slot: string) => SimulatedProcess },
): Promise<void> {
  const { pass, processOf } = among;
  const { stage, history, connection, source, played } = company;
  played.runs += 1;
  const runId = `${connection}-${String(played.runs).padStart(3, '0')}`;
  const lastStep = kind === 'terminated sync' ? played.steps + 40 : Infinity;
  const driver = new Driver({
    connection,
    // Two workers share the work.
    worker: (activityId) => asWorker(processOf(String(Number(activityId) % 2)), { stage, history }),
    pass,
    ended: () => played.steps > lastStep,
    onFailure: (failure, error) => {
      played.retries += 1;
      if (failure.type === 'Unexpected' && !isDeadlock(error))
        throw new BrokenPromise(`An unexpected failure: ${String(error)}`);
    },
  });
  const day = (milliseconds: number): string =>
    new Date(source.now() + milliseconds).toISOString().slice(0, 10);
  const { resources } = history;
  const plays: Record<RunKind, () => Promise<void>> = {
    sync: () => driver.sync(runId, resources),
    'terminated sync': () => driver.sync(runId, resources),
    reconcile: () => driver.reconcile(runId, resources),
    'approved reconcile': async () => {
      const waiting = await readWaitingDeletions(stage.warehouse, { connectionId: connection });
      await driver.reconcile(runId, resources, questionOf(waiting));
    },
    backfill: () =>
      driver.backfill(runId, resources, { from: day(-50 * dayMilliseconds), to: day(dayMilliseconds) }),
    webhooks: () => driver.applyWebhooks(runId),
  };
  const judge = judgeRun(company, runId);
  try {
    await plays[kind]();
    await judge();
  } catch (error) {
    // A workflow that ends or fails is no broken promise while there is trouble.
    if (!(error instanceof RunEnded) && !(error instanceof ApplicationFailure)) throw error;
  }
}

const dayMilliseconds = 86_400_000;

function asWorker(
  process: SimulatedProcess,
  { stage, history }: { stage: Stage; history: History },
): PlayedWorker {
  const { warehouse, api, apiAddress } = stage;
  return {
    lost: process.lost,
    isDead: () => process.isDead(),
    dependencies: (key) =>
      dependenciesOf({
        apiAddress,
        lookbackMilliseconds: history.lookbackSeconds * 1000,
        warehouse: process.warehouse(warehouse.pool, key),
        api: process.api(api, key),
      }),
  };
}

/** Postgres ends one of two that wait for each other, and it is tried again. */
function isDeadlock(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '40P01';
}
