import { startDaybook, type DaybookProcess } from '../support/daybook-process.ts';

/** Worker processes, some of which are killed now and then; another takes the place at once. */
export interface Workers {
  /** How many were killed. */
  readonly kills: () => number;
  /** Kills one without warning. */
  kill(number: number): void;
  /** Stops all; says which of them had ended by themselves, and how. */
  stop(): Promise<string[]>;
}

export async function startWorkers(
  count: number,
  options: { env: Readonly<Record<string, string>>; cwd: string },
): Promise<Workers> {
  const failures: string[] = [];
  const expected = new Set<DaybookProcess>();
  let kills = 0;
  const start = (): DaybookProcess => {
    const worker = startDaybook(['worker'], options);
    void worker.ended.then(({ code, stderr }) => {
      if (!expected.has(worker))
        failures.push(`A worker ended with ${String(code)}: ${stderr.slice(-1_000)}`);
    });
    return worker;
  };
  const workers = Array.from({ length: count }, start);
  await Promise.all(workers.map((worker) => worker.says(/worker is ready/)));
  return {
    kills: () => kills,
    kill(number) {
      const worker = workers[number];
      if (worker === undefined) throw new Error(`There is no worker ${number}.`);
      expected.add(worker);
      kills += 1;
      void worker.stop('SIGKILL');
      workers[number] = start();
    },
    async stop() {
      for (const worker of workers) expected.add(worker);
      await Promise.all(workers.map((worker) => worker.stop()));
      return failures;
    },
  };
}
