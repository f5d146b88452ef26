import { startDaybook, type DaybookOptions, type DaybookProcess } from '../support/daybook-process.ts';

/** Restarts a process of Daybook whenever it ends, as a service manager does. */
export function superviseProcess(
  args: readonly string[],
  ready: RegExp,
  options: DaybookOptions,
): SupervisedProcess {
  const dead: number[] = [];
  let waiting: (() => void)[] = [];
  let stopping = false;
  let current = startDaybook(args, options);
  const supervising = supervise();

  async function supervise(): Promise<void> {
    for (;;) {
      if (await isReady(current)) {
        for (const resolve of waiting) resolve();
        waiting = [];
      }
      await current.ended;
      dead.push(current.pid);
      if (stopping) return;
      current = startDaybook(args, options);
    }
  }

  /** Returns false if the process is killed before it is ready. */
  function isReady(process: DaybookProcess): Promise<boolean> {
    return process.waitForOutput(ready).then(
      () => true,
      () => false,
    );
  }

  return {
    pid: () => current.pid,
    dead: () => dead,
    output: () => current.output(),
    nextReady: () => new Promise((resolve) => waiting.push(resolve)),
    async stop() {
      stopping = true;
      await current.stop();
      await supervising;
    },
  };
}

export interface SupervisedProcess {
  readonly pid: () => number;
  /** The ids of the processes that have ended. */
  readonly dead: () => readonly number[];
  /** The output of the current process. */
  readonly output: () => string;
  /** Resolves when the next process is ready. */
  readonly nextReady: () => Promise<void>;
  readonly stop: () => Promise<void>;
}
