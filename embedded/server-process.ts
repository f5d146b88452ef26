import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import { serverEnvironment } from './server-environment.ts';
import { openLog, type ServerLog } from './server-log.ts';

/**
 * Starts a server as a child in its own process group, so that Ctrl-C in the terminal reaches only Daybook, which decides
 * the order of stopping.
 */
export async function startServerProcess(input: ServerCommand): Promise<ServerProcess> {
  const log = await openLog(input.logFile);
  const child = spawn(input.command, input.args, {
    detached: true,
    stdio: [
      input.tiedToParent === true ? 'pipe' : 'ignore',
      input.tiedToParent === true ? 'pipe' : log.fd,
      log.fd,
    ],
    cwd: input.cwd,
    env: serverEnvironment(),
  });
  const exited = waitForExit(child).finally(() => log.close());
  stopWithThisProcess(child, input.stopSteps);
  return {
    name: input.name,
    pid: child.pid,
    log,
    stdout: child.stdout,
    exited,
    stop: () => stopChild(child, exited, input.stopSteps),
  };
}

export interface ServerCommand {
  /** The display name, such as `Postgres`. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd?: string;
  readonly logFile: string;
  readonly stopSteps: readonly StopStep[];
  /** Gives the child a stdin that closes when this process dies, and connects its stdout to this process instead of the log. */
  readonly tiedToParent?: boolean;
}

export interface ServerProcess {
  readonly name: string;
  /** Undefined if the process could not be started. */
  readonly pid: number | undefined;
  readonly log: ServerLog;
  /** Only for a child that is `tiedToParent`. */
  readonly stdout: Readable | null;
  /** Resolves with how it ended: `exit code 1`, `signal SIGKILL`, or why it could not be started. */
  readonly exited: Promise<string>;
  readonly stop: () => Promise<void>;
}

/** One step of stopping a server: the signal, and the timeout before the next, stronger one. */
export interface StopStep {
  readonly signal: NodeJS.Signals;
  readonly timeoutMs: number;
}

function waitForExit(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('error', (error) => {
      resolve(error.message);
    });
    child.once('exit', (code, signal) => {
      resolve(signal === null ? `exit code ${code ?? 'unknown'}` : `signal ${signal}`);
    });
  });
}

async function stopChild(
  child: ChildProcess,
  exited: Promise<string>,
  steps: readonly StopStep[],
): Promise<void> {
  for (const { signal, timeoutMs } of steps) {
    child.kill(signal);
    const patience = new AbortController();
    const stopped = await Promise.race([
      exited.then(() => true),
      wait(timeoutMs, false, { signal: patience.signal }).catch(() => false),
    ]);
    patience.abort();
    if (stopped) return;
  }
  throw new Error(`Process ${child.pid ?? 'unknown'} does not stop even when killed; end it by hand.`);
}

/** A crash of this process must not leave servers behind. The exit event allows one synchronous signal, and that is enough. */
function stopWithThisProcess(child: ChildProcess, steps: readonly StopStep[]): void {
  const signal = steps[0]?.signal ?? 'SIGTERM';
  const stop = (): void => {
    child.kill(signal);
  };
  process.once('exit', stop);
  void once(child, 'exit').then(
    () => process.off('exit', stop),
    () => process.off('exit', stop),
  );
}
