/** Lets a number of callers work at once. Of those that wait, the one that came first is next. */
export interface ConcurrencyLimit {
  /** Rejects with the signal's reason when that is aborted before the work has begun. */
  run<Result>(signal: AbortSignal | undefined, work: () => Promise<Result>): Promise<Result>;
}

export function limitConcurrency(count: number): ConcurrencyLimit {
  const waiting = new Set<() => void>();
  let running = 0;
  return {
    async run(signal, work) {
      signal?.throwIfAborted();
      if (running < count) running += 1;
      else await turn(signal);
      try {
        return await work();
      } finally {
        const [next] = waiting;
        // The place of the one that is done is handed over, so that nobody who comes later gets in between.
        if (next === undefined) running -= 1;
        else next();
      }
    },
  };

  function turn(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = (): void => {
        waiting.delete(go);
        signal?.removeEventListener('abort', leave);
        resolve();
      };
      const leave = (): void => {
        waiting.delete(go);
        reject(signal?.reason as Error);
      };
      waiting.add(go);
      signal?.addEventListener('abort', leave, { once: true });
    });
  }
}
