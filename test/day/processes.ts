import { startDaybook, type DaybookProcess } from '../support/daybook-process.ts';

/** Processes of Daybook, some of which are killed now and then; another takes the place at once. */
export interface Processes {
  /** How many were killed. */
  readonly kills: () => number;
  /** Of those that run now. */
  pids(): Promise<readonly number[]>;
  /** Kills one without warning. */
  kill(number: number): void;
  /** Stops all; says which of them had ended by themselves, and how. */
  stop(): Promise<string[]>;
}

export interface ProcessPlan {
  readonly command: string;
  /** What it prints when it is ready. */
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
  const start = (plan: ProcessPlan): DaybookProcess => {
    const started = startDaybook([plan.command], { env: { ...env, ...plan.env }, cwd });
    void started.ended.then(({ code, stderr }) => {
      if (!expected.has(started))
        failures.push(`A "daybook ${plan.command}" ended with ${String(code)}: ${stderr.slice(-1_000)}`);
    });
    return started;
  };
  const running = plans.map((plan) => ({ plan, process: Promise.resolve(start(plan)) }));
  await Promise.all(running.map(async ({ plan, process }) => (await process).says(plan.ready)));
  return {
    kills: () => kills,
    pids: () => Promise.all(running.map(async ({ process }) => (await process).pid)),
    kill(number) {
      const victim = running[number];
      if (victim === undefined) throw new Error(`There is no process ${number}.`);
      kills += 1;
      victim.process = victim.process.then(async (process) => {
        expected.add(process);
        // Before it has ended, its port is not free.
        await process.stop('SIGKILL');
        return start(victim.plan);
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
