import { setTimeout as wait } from 'node:timers/promises';
import { WorkflowFailedError } from '@temporalio/client';
import { planActions, type PlannedAction } from './plan-actions.ts';
import { askForBackfill, askForReconcile, askForSync } from './ask-for-runs.ts';
import { createChance } from './chance.ts';
import { injectFault } from './inject-fault.ts';
import { judgeDay } from './judge-day.ts';
import { createWorkload, type Workload } from './workload.ts';
import {
  connections,
  openDayEnvironment,
  processCount,
  type DayEnvironment,
} from './open-day-environment.ts';
import type { TestServers } from '../support/own-servers.ts';
import { startTicking } from './start-ticking.ts';
import { untilWebhooksAreApplied } from './until-webhooks-are-applied.ts';
import { summarize, countTicks, type Summary } from './summarize.ts';

export interface DayOptions {
  /** The least number of syncs for every connection. */
  readonly ticks: number;
  readonly tickSeconds: number;
  /** Decides everything that happens, except how long it takes. */
  readonly seed: number;
  /** The number of records of each connection at the beginning. */
  readonly records: number;
}

export interface Day {
  readonly summary: Summary;
  /** The broken promises, in sentences. Empty after a good day. */
  readonly complaints: readonly string[];
}

/**
 * Runs a day of three companies in minutes. Their connections are synced all the time while records change, webhooks arrive or get lost, the
 * service fails now and then, and processes are killed. After all that stops, everything must match the source.
 */
export async function runDay(
  servers: TestServers,
  options: DayOptions,
  report: (progress: string) => void,
): Promise<Day> {
  const started = performance.now();
  const environment = await openDayEnvironment(servers, options);
  const workload = createWorkload({ admin: environment.admin, connections, seed: options.seed });
  try {
    const ended: string[] = [];
    try {
      await runWorkloadWithFaults(environment, { office: workload, options, report });
      report('No more faults: one sync and two reconciles of each connection');
      ended.push(...(await settle(environment)));
    } finally {
      ended.push(...(await environment.processes.stop()));
    }
    const complaints = [...ended, ...(await judgeDay(environment, workload.operations))];
    return {
      summary: await summarize(environment, { operations: workload.operations, started }),
      complaints,
    };
  } finally {
    await environment.sandbox.close();
  }
}

async function runWorkloadWithFaults(
  environment: DayEnvironment,
  {
    office: workload,
    options,
    report,
  }: { office: Workload; options: DayOptions; report: (progress: string) => void },
): Promise<void> {
  const { admin } = environment;
  const chance = createChance(`day/${options.seed}`);
  const plannedActions = planActions({ ...options, processes: processCount, connections, chance });
  const pendingActions: Promise<unknown>[] = [];
  const ticking = await startTicking(environment, options);
  let reportedAt = performance.now();
  for (let ticks = 0; ticks < options.ticks; ticks = await countTicks(environment)) {
    await workload.runNext();
    if (chance.happens(12)) await injectFault(admin, { connections, chance });
    for (let due = plannedActions[0]; due !== undefined && due.tick <= ticks; due = plannedActions[0]) {
      plannedActions.shift();
      pendingActions.push(performAction(environment, due));
    }
    if (performance.now() - reportedAt > 10_000) {
      report(
        `${ticks} of ${options.ticks} ticks, ${workload.operations.length} operations, ${environment.processes.kills()} kills`,
      );
      reportedAt = performance.now();
    }
    await wait(100 + chance.below(600));
  }
  await admin.clearFaults();
  await ticking.stop();
  await Promise.all(pendingActions);
}

/** Carries out a planned action. A run may fail while the service has faults, but not at the end. */
async function performAction(environment: DayEnvironment, action: PlannedAction): Promise<void> {
  const { client, processes } = environment;
  if (action.what === 'kill') {
    processes.kill(action.process);
    return;
  }
  if (action.what === 'no Temporal') {
    await environment.interruptTemporal?.(5);
    return;
  }
  const run =
    action.what === 'reconcile' ? askForReconcile(client, action.connection) : askForBackfill(client, action);
  await run.catch((error: unknown) => {
    if (!(error instanceof WorkflowFailedError)) throw error;
  });
}

/** Runs everything once more without faults. Returns complaints about runs that still fail. */
async function settle(environment: DayEnvironment): Promise<string[]> {
  const { client, warehouse } = environment;
  const complaints: string[] = [];
  await untilWebhooksAreApplied(environment, { seconds: 60 });
  for (const connection of connections) {
    let last = '';
    for (const ask of [askForSync, askForReconcile, askForReconcile]) {
      const { runId, status } = await ask(client, connection);
      if (status !== 'succeeded')
        complaints.push(`${connection}: run ${runId}, with no fault left, is ${status}.`);
      last = runId;
    }
    const { rows } = await warehouse.pool.query<{ found: string }>(
      `select format('%s %s %s', kind, resource, record_id) as found from sync.discrepancies where run_id = $1`,
      [last],
    );
    complaints.push(...rows.map(({ found }) => `${connection}: the second reconcile still found: ${found}.`));
  }
  return complaints;
}
