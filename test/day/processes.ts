import { setTimeout as wait } from 'node:timers/promises';
import { startDaybook, type DaybookProcess } from '../support/daybook-process.ts';

/** Processes of Daybook, which may be killed. Another one replaces each at once. */
export interface Processes {
  /** The number of kills so far. */
  readonly kills: () => number;
  /** The process ids of those that run now. */
  pids(): Promise<readonly number[]>;
  /** Kills a process without warning. */
  kill(number: number): void;
  /** Stops all processes. Returns which of them had ended by themselves, and how. */
  stop(): Promise<string[]>;
}

export interface ProcessPlan {
  readonly command: string;
  /** The line that it prints when it is ready. */
  readonly ready: RegExp;
  readonly env?: Readonly<Record<string, string>>;
}

export async function startProcesses(
  plans: readonly ProcessPlan[],
  { env, cwd }: { env: Readonly<Record<string, string>>; cwd: string },
): Promise<Processes> {
  const failures: string[] = [];
  const expected = new Set<DaybookProcess>();
  let kills = 0;
  const watch = (started: DaybookProcess, plan: ProcessPlan): void => {
    void started.ended.then(({ code, stderr }) => {
      if (!expected.has(started))
        failures.push(`A "daybook ${plan.command}" ended with ${String(code)}: ${stderr.slice(-1_000)}`);
    });
  };
  const start = (plan: ProcessPlan): DaybookProcess => {
    const started = startDaybook([plan.command], { env: { ...env, ...plan.env }, cwd });
    watch(started, plan);
    return started;
  };
  /** Restarts a process as a supervisor does. It may end before it is ready, because a server that it needs is down. */
  const startAgain = async (plan: ProcessPlan): Promise<DaybookProcess> => {
    const givenUpAt = performance.now() + longestAwayMilliseconds;
    for (;;) {
      const started = startDaybook([plan.command], { env: { ...env, ...plan.env }, cwd });
      try {
        await started.waitForOutput(plan.ready);
        watch(started, plan);
        return started;
      } catch (error) {
        if (performance.now() > givenUpAt) throw error;
        await wait(1_000);
      }
    }
  };
  const running = plans.map((plan) => ({ plan, process: Promise.resolve(start(plan)) }));
  await Promise.all(running.map(async ({ plan, process }) => (await process).waitForOutput(plan.ready)));
  return {
    kills: () => kills,
    pids: () => Promise.all(running.map(async ({ process }) => (await process).pid)),
    kill(number) {
      const victim = running[number];
      if (victim === undefined) throw new Error(`There is no process ${number}.`);
      kills += 1;
      victim.process = victim.process.then(async (process) => {
        expected.add(process);
        // Its port is free only once it has ended.
        await process.stop('SIGKILL');
        return startAgain(victim.plan);
      });
    },
    async stop() {
      const last = await Promise.all(running.map(({ process }) => process));
      for (const process of last) expected.add(process);
      await Promise.all(last.map((process) => process.stop()));
      return failures;
    },
  };
}

/** In the hour of the fleet, Temporal is down for ten minutes. */
const longestAwayMilliseconds = 1_800_000;
