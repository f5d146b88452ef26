import { ApplicationFailure } from '@temporalio/common';
import { createDependencies } from './create-dependencies.ts';
import { Driver, RunTerminated, type SimulatedWorker } from './driver.ts';
import { readShownDeletions } from './apply-change.ts';
import type { Company, ShownDeletions } from './company.ts';
import type { History, RunKind } from './history.ts';
import { judgeApproval, judgeRun, judgeWait } from './judge-run.ts';
import { judgeTick } from './judge-tick.ts';
import { replaceConnection } from './replace-connection.ts';
import type { SimulatedProcess } from './simulated-process.ts';
import type { Harness } from './harness.ts';
import { InvariantViolation } from './invariant-checker.ts';

/** Plays one run to its end, on the existing processes. */
export async function playRun(
  company: Company,
  kind: RunKind,
  among: { pass: (milliseconds: number) => Promise<void>; processOf: (slot: string) => SimulatedProcess },
): Promise<void> {
  const { pass, processOf } = among;
  const { harness, history, connection, source, played, environment } = company;
  // No run starts for a connection that does not exist.
  if (company.token === 'none') return;
  // A request for a sync joins the sync that is running.
  if (kind.endsWith('sync') && company.syncs.open !== undefined) return;
  played.runs += 1;
  const runId = `${connection}-${String(played.runs).padStart(3, '0')}`;
  company.changesBefore.set(runId, source.changes);
  const lastStep = kind === 'terminated sync' ? played.steps + 40 : Infinity;
  const driver = new Driver({
    connection,
    syncs: company.syncs,
    // Two workers share the work.
    worker: (activityId) => {
      const slot = String(Number(activityId) % 2);
      const error = (): number => environment.workerError(slot);
      return asWorker(processOf(slot), { harness, history, error });
    },
    pass,
    onWait: (milliseconds) => {
      judgeWait(company, milliseconds);
    },
    isTerminated: () => played.steps > lastStep,
    resets: history.resets === true,
    onFailure: (failure, error) => {
      played.retries += 1;
      if (failure.type === 'Unexpected' && !isDeadlock(error))
        throw new InvariantViolation(`An unexpected failure: ${String(error)}`);
    },
  });
  const day = (milliseconds: number): string =>
    new Date(source.now() + milliseconds).toISOString().slice(0, 10);
  const { resources } = history;
  const approve = async ({ names, question }: ShownDeletions): Promise<void> => {
    // Nobody approves deletions that they have not seen.
    if (names.size === 0) return;
    await driver.reconcile(runId, resources, {
      approved: question,
      judge: () => judgeApproval(company, runId, names),
    });
  };
  const runByKind: Record<RunKind, () => Promise<void>> = {
    'stale approval': () => approve(company.shownDeletions),
    sync: () => company.syncs.run(runId, () => driver.sync(runId, resources)),
    'terminated sync': () => company.syncs.run(runId, () => driver.sync(runId, resources)),
    tick: async () => {
      await driver.tick(runId, resources);
      await judgeTick(company, runId);
    },
    reconcile: () => driver.reconcile(runId, resources),
    'approved reconcile': async () => approve(await readShownDeletions(company)),
    replacement: () => replaceConnection(company, processOf),
    backfill: () =>
      driver.backfill(runId, resources, { from: day(-50 * dayMilliseconds), to: day(dayMilliseconds) }),
    webhooks: () => driver.applyWebhooks(runId),
  };
  const judge = await judgeRun(company, runId);
  try {
    await runByKind[kind]();
    await judge(true);
  } catch (error) {
    if (error instanceof ApplicationFailure) await judge(false);
    // While there is trouble, a workflow that ends or fails breaks no promise.
    if (!(error instanceof RunTerminated) && !(error instanceof ApplicationFailure)) throw error;
  }
}

const dayMilliseconds = 86_400_000;

function asWorker(
  process: SimulatedProcess,
  { harness, history, error }: { harness: Harness; history: History; error: () => number },
): SimulatedWorker {
  const { warehouse, api, apiAddress } = harness;
  return {
    lost: process.lost,
    isDead: () => process.isDead(),
    withClockError: (work) => harness.clock.withClockError(error, work),
    dependencies: (key) =>
      createDependencies({
        apiAddress,
        lookbackMilliseconds: history.lookbackSeconds * 1000,
        warehouse: process.warehouse(warehouse.pool, key),
        api: process.api(api, key),
      }),
  };
}

/** Whether Postgres ended the session to resolve a deadlock. The activity is retried. */
function isDeadlock(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '40P01';
}
