import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { onTestFinished } from 'vitest';
import type { EmbeddedServers, EmbeddedStep } from '../../embedded/start-embedded.ts';
import { testProgram } from '../support/daybook-process.ts';
import type { Line } from './embedded-main.ts';

/** Starts embedded servers in a process of their own, which the test may kill. If that process fails, throws with its output. */
export async function startEmbeddedProcess(
  home: string,
  ...servers: ('postgres' | 'temporal' | 'sandbox')[]
): Promise<EmbeddedProcess> {
  const main = testProgram('test/embedded/embedded-main.ts');
  const child = spawn(process.execPath, [...main, home, servers.join()], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    return exited;
  };
  onTestFinished(async () => {
    await end('SIGTERM');
  });
  const steps: EmbeddedStep[] = [];
  const started = await new Promise<EmbeddedServers>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (text) => {
      const line = JSON.parse(text) as Line;
      if ('step' in line) steps.push(line.step);
      else if ('servers' in line) resolve(line.servers);
      else reject(new Error(line.error));
    });
    child.once('exit', () => {
      reject(new Error('The process ended before its servers were ready.'));
    });
  });
  return { pid: child.pid ?? 0, servers: started, steps, end };
}

export interface EmbeddedProcess {
  readonly pid: number;
  readonly servers: EmbeddedServers;
  /** The steps so far; the list grows. */
  readonly steps: readonly EmbeddedStep[];
  /** Sends the signal and waits for the end. Resolves to the exit code, null after a kill. */
  readonly end: (signal: NodeJS.Signals) => Promise<number | null>;
}
