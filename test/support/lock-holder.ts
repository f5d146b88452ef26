import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { testProgram } from './daybook-process.ts';

/** A separate process that takes the lock of exports or builds. */
export interface LockHolder {
  /** Returns the next line of the process: `held`, or the name of the error that refused the lock; after `ask`, `still held` or `lost`. */
  nextLine(): Promise<string>;
  ask(): void;
  signal(signal: NodeJS.Signals): void;
}

export function startLockHolder(what: 'export' | 'build', url: string): LockHolder {
  const child = spawn(process.execPath, [...testProgram('test/support/hold-lock-main.ts'), what, url], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    child.kill('SIGKILL');
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    nextLine: async () => String((await lines.next()).value),
    ask: () => child.kill('SIGUSR2'),
    signal: (signal) => child.kill(signal),
  };
}
