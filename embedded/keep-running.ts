import { setTimeout as wait } from 'node:timers/promises';

/** A server that was started and answers. */
export interface EmbeddedServer {
  /** Resolves when the process ends, with a description of how it ended. */
  readonly exited: Promise<string>;
  /** Stops the process gracefully, then forcibly. Does nothing if it has already ended. */
  readonly stop: () => Promise<void>;
}

/**
 * Restarts a server whenever it dies, until `stop` is called; `restart` must bring it back at the same address.
 * Reports each event in words for people.
 */
export function keepRunning(
  first: EmbeddedServer,
  input: { readonly restart: () => Promise<EmbeddedServer>; readonly report: (event: RestartEvent) => void },
): { readonly stop: () => Promise<void> } {
  const stopping = new AbortController();
  let current = first;
  const watching = watch();

  return {
    async stop() {
      stopping.abort();
      await current.stop();
      await watching;
      await current.stop(); // A server that was being started just now.
    },
  };

  async function watch(): Promise<void> {
    let failures = 0;
    while (!isStopping()) {
      const startedAt = performance.now();
      const how = await current.exited;
      if (isStopping()) return;
      failures = performance.now() - startedAt > steadyMs ? 0 : failures + 1;
      input.report({ state: 'died', detail: how });
      while (!(await startAgain(failures))) failures++;
    }
  }

  /** Tries once, after a pause that grows with the number of failures. Also returns true if there is nothing left to do. */
  async function startAgain(failures: number): Promise<boolean> {
    const pauseMs = Math.min(100 * 2 ** failures, maxPauseMs);
    await wait(pauseMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    if (isStopping()) return true;
    try {
      current = await input.restart();
      input.report({ state: 'restarted', detail: '' });
      return true;
    } catch (error) {
      input.report({
        state: 'restart-failed',
        detail: error instanceof Error ? error.message : String(error),
      });
      return false;
    }
  }

  function isStopping(): boolean {
    return stopping.signal.aborted;
  }
}

export interface RestartEvent {
  readonly state: 'died' | 'restarted' | 'restart-failed';
  readonly detail: string;
}

const maxPauseMs = 10_000;
/** A server that ran this long before it died is restarted without a long pause. */
const steadyMs = 60_000;
