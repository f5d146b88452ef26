import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import { testProgram } from './daybook-process.ts';

/** A process of its own that takes the lock of exports or builds. */
export interface LockHolder {
  /** The next thing it says: `held`, or the name of the error that it was refused with; after `ask`, `still held` or `lost`. */
  says(): Promise<string>;
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
    says: async () => String((await lines.next()).value),
    ask: () => child.kill('SIGUSR2'),
    signal: (signal) => child.kill(signal),
  };
}
